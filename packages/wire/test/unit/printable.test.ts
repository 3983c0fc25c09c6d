import { describe, expect, test } from "vitest";
import { printable } from "../../src/index.js";

describe("printable", () => {
  test.each([
    ["plain text, with ä and 😀", "plain text, with ä and 😀"],
    ["a\nb\r\tc", "a\\nb\\r\\tc"],
    ['say "hi" \\', 'say \\"hi\\" \\\\'],
    ["\u0000\u001b[31m\u0085", "\\u0000\\u001b[31m\\u0085"],
    ["\u202eevil\u2066", "\\u202eevil\\u2066"],
    ["\u200b\ufeff", "\\u200b\\ufeff"],
    ["\u2028\u2029", "\\u2028\\u2029"],
    ["\ud800x", "\\ud800x"],
    ["\u{e0001}", "\\u{e0001}"],
    ["", ""],
  ])("shows %j", (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  test("keeps 64 characters and cuts the 65th", () => {
    expect(printable("x".repeat(64))).toBe("x".repeat(64));
    expect(printable("x".repeat(65))).toBe(`${"x".repeat(63)}…`);
  });

  test("never cuts inside an escape or a surrogate pair", () => {
    expect(printable("ab\n", 3)).toBe("ab…");
    expect(printable("ab😀c", 4)).toBe("ab…");
    expect(printable("ab😀", 4)).toBe("ab😀");
  });

  test("is quick on a megabyte", () => {
    expect(printable("\n".repeat(1_000_000)).length).toBeLessThanOrEqual(64);
  });
});
