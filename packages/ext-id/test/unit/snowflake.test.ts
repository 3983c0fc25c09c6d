import { describe, expect, test } from "vitest";
import { decode, EPOCH_MS, encode, IdError, isSnowflakeId } from "../../src/index.js";

describe("decode", () => {
  test("takes the known id apart", () => {
    expect(decode("274557032793636864")).toEqual({
      timestamp: EPOCH_MS + 65459497641,
      ts: 65459497641,
      node: 0,
      seq: 0,
    });
  });

  test("takes the largest id apart", () => {
    expect(decode("9223372036854775807")).toMatchObject({ ts: 2 ** 41 - 1, node: 1023, seq: 4095 });
  });

  test.each([
    "",
    "-1",
    "007",
    "1.5",
    "1e3",
    "0x10",
    " 1",
    "1\n",
    "9223372036854775808",
    "1".repeat(1e6),
  ])("refuses %j", (id) => {
    expect(() => decode(id)).toThrow(IdError);
    expect(isSnowflakeId(id)).toBe(false);
  });

  test.each([1, 1n, null, undefined, {}])("refuses %s, which is no string", (id) => {
    expect(() => decode(id as string)).toThrow(IdError);
  });

  test("cuts what it shows of a huge text", () => {
    expect(() => decode("x".repeat(1e6))).toThrow(/^.{1,160}$/);
  });
});

describe("encode", () => {
  test("gives the known id", () => {
    expect(encode({ ts: 65459497641, node: 0, seq: 0 })).toBe("274557032793636864");
  });

  test.each([
    ["ts", { ts: 2 ** 41, node: 0, seq: 0 }],
    ["ts", { ts: -1, node: 0, seq: 0 }],
    ["node", { ts: 0, node: 1024, seq: 0 }],
    ["node", { ts: 0, node: 0.5, seq: 0 }],
    ["seq", { ts: 0, node: 0, seq: 4096 }],
    ["seq", { ts: 0, node: 0, seq: Number.NaN }],
    ["seq", { ts: 0, node: 0, seq: "1" as never }],
  ])("names %s when it is out of range", (name, parts) => {
    expect(() => encode(parts)).toThrow(new RegExp(`^${name}: must be a whole number`));
  });
});
