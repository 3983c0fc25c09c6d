import { describe, expect, test } from "vitest";
import { keySlot, readRedirect, readSlots } from "../../src/lane/slots.js";

describe("keySlot", () => {
  test.each([
    ["123456789", 12739],
    ["foo", 12182],
    ["{foo}.bar", 12182],
    ["a{foo}{bar}", 12182],
    ["", 0],
  ])("%s is in slot %i", (key, slot) => {
    expect(keySlot(key)).toBe(slot);
    expect(keySlot(new TextEncoder().encode(key))).toBe(slot);
  });

  test("an empty tag does not count", () => {
    expect(keySlot("{}foo")).not.toBe(keySlot(""));
    expect(keySlot("{}foo")).not.toBe(keySlot("foo"));
    expect(keySlot("{{é}}")).toBe(keySlot("{é"));
  });
});

describe("readSlots", () => {
  test("a node that does not know its host is the one that was asked", () => {
    const reply = [
      [0, 99, ["", 7000, "id"], ["10.0.0.9", 7001, "id"]],
      [100, 199, ["10.0.0.2", 7002, "id", []]],
      [200, 299, [null, 7003]],
    ];
    expect(readSlots(reply, "10.0.0.1")).toEqual([
      { from: 0, to: 99, address: { host: "10.0.0.1", port: 7000 } },
      { from: 100, to: 199, address: { host: "10.0.0.2", port: 7002 } },
      { from: 200, to: 299, address: { host: "10.0.0.1", port: 7003 } },
    ]);
  });

  test("anything else is no range", () => {
    expect(readSlots(null, "h")).toEqual([]);
    expect(readSlots(["x", [1], [1, 2, "h"]], "h")).toEqual([]);
  });
});

test("readRedirect reads hosts with colons and without a name", () => {
  expect(readRedirect("MOVED 3999 127.0.0.1:6381")).toEqual({
    kind: "MOVED",
    slot: 3999,
    host: "127.0.0.1",
    port: 6381,
  });
  expect(readRedirect("ASK 1 ::1:7000")).toMatchObject({ kind: "ASK", host: "::1", port: 7000 });
  expect(readRedirect("MOVED 1 :7000")).toMatchObject({ host: "", port: 7000 });
  expect(readRedirect("ERR no")).toBeUndefined();
});
