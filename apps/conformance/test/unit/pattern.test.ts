import { describe, expect, test } from "vitest";
import { literal, startsWith } from "../../src/acl/pattern.js";

describe("a pattern that stands for one text", () => {
  test.each([
    ["orders", "orders"],
    ["a*?b", "a\\*\\?b"],
    ["[x]\\^-", "\\[x\\]\\\\\\^\\-"],
    ["two words", "two[^!-~]words"],
    [`"it's"`, "[^!#-~]it[^!-&(-~]s[^!#-~]"],
    ["f(x)", "f(x[)]"],
    ["~%#@!", "~%#@!"],
    ["größe 🙂", "größe[^!-~]🙂"],
  ])("%s", (text, pattern) => {
    expect(literal(text)).toBe(pattern);
    expect(startsWith(text)).toBe(`${pattern}*`);
  });
});
