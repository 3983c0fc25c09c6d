import { expect, test } from "vitest";
import { utf8Length } from "../../src/index.js";

test.each([
  ["", 0],
  ["abc", 3],
  ["\u007f", 1],
  ["\u0080", 2],
  ["\u07ff", 2],
  ["\u0800", 3],
  ["\uffff", 3],
  ["😀", 4],
  ["a😀b", 6],
  ["\ud800", 3],
  ["\ud800\ud800\udc00", 7],
])("%j has %i bytes", (text, bytes) => {
  expect(utf8Length(text)).toBe(bytes);
});
