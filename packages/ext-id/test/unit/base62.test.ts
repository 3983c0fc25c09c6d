import { expect, test } from "vitest";
import { fromBase62, IdError, toBase62 } from "../../src/index.js";

test.each([
  ["0", "00000000000"],
  ["9", "00000000009"],
  ["10", "0000000000A"],
  ["61", "0000000000z"],
  ["62", "00000000010"],
  ["274557032793636864", "0KHTOWnGLuC"],
  ["9223372036854775807", "AzL8n0Y58m7"],
])("writes %s as %s and reads it back", (id, text) => {
  expect(toBase62(id)).toBe(text);
  expect(fromBase62(text)).toBe(id);
});

test.each([
  ["too short", "0000000000"],
  ["too long", "000000000000"],
  ["empty", ""],
  ["one above 63 bits", "AzL8n0Y58m8"],
  ["far above 63 bits", "zzzzzzzzzzz"],
  ["a sign", "-0000000001"],
  ["an underscore", "0000000000_"],
  ["a letter beyond ASCII", "0000000000é"],
  ["a surrogate pair", "000000000😀"],
])("refuses a text that is or holds %s", (_, text) => {
  expect(() => fromBase62(text)).toThrow(IdError);
});

test.each([null, undefined, 5, 5n, []])("refuses %s, which is no string", (value) => {
  expect(() => fromBase62(value as unknown as string)).toThrow(IdError);
  expect(() => toBase62(value as unknown as string)).toThrow(IdError);
});
