import { describe, expect, test } from "vitest";
import { plainReply, wireArgs } from "../../src/lane/reply.js";

describe("plainReply", () => {
  test("errors, big integers, booleans and bytes become plain", () => {
    const reply = ["a", 1, null, new Error("EMQSTALE x"), 7n, true, Buffer.from("é"), [undefined]];
    expect(plainReply(reply)).toEqual(["a", 1, null, "EMQSTALE x", 7, 1, "é", [null]]);
  });
});

describe("wireArgs", () => {
  test("bytes are passed as a view, not copied", () => {
    const bytes = new Uint8Array([0, 1, 2, 3]).subarray(1, 3);
    const [first] = wireArgs([bytes], 0);
    expect(Buffer.isBuffer(first)).toBe(true);
    expect((first as Buffer).buffer).toBe(bytes.buffer);
    expect([...(first as Buffer)]).toEqual([1, 2]);
  });

  test("anything else is a programming error", () => {
    expect(() => wireArgs(["SET", "k", 1 as never], 0)).toThrow(TypeError);
    expect(() => wireArgs(["SET", "k", undefined as never], 1)).toThrow("argument 2");
  });
});
