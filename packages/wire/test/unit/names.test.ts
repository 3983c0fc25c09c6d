import { describe, expect, test } from "vitest";
import { jobId, queueName, ValidationError, wrap } from "../../src/index.js";

const long = "q".repeat(128);

describe("queueName", () => {
  test.each([
    ["orders", "orders"],
    ["{orders}", "orders"],
    ["a", "a"],
    ["my queue", "my queue"],
    ["a,b/c.d-e_f", "a,b/c.d-e_f"],
    ["Bestellungen-ä-😀", "Bestellungen-ä-😀"],
    ["emq2", "emq2"],
    ["EMQ", "EMQ"],
    ["__proto__", "__proto__"],
    [long, long],
    [`{${long}}`, long],
    ["é".repeat(64), "é".repeat(64)],
  ])("takes %j", (given, name) => {
    expect(queueName(given)).toBe(name);
  });

  test.each([
    ["empty", "", "must not be empty"],
    ["a pair of braces only", "{}", "must not be empty"],
    ["emq", "emq", 'must not be "emq"'],
    ["{emq}", "{emq}", 'must not be "emq"'],
    ["an opening brace", "a{b", "must hold no braces"],
    ["a closing brace", "a}b", "must hold no braces"],
    ["braces inside", "a{b}c", "must hold no braces"],
    ["two pairs of braces", "{{a}}", "must hold no braces"],
    ["one brace", "{", "must hold no braces"],
    ["half a pair", "{a", "must hold no braces"],
    ["a colon", "a:b", "must hold no colon"],
    ["a colon between braces", "{a:b}", "must hold no colon"],
    ["U+0000", "a\u0000", "must hold no control characters (one at offset 1)"],
    ["U+001F", "\u001fa", "must hold no control characters (one at offset 0)"],
    ["U+007F", "a\u007f", "must hold no control characters"],
    ["U+0080", "a\u0080", "must hold no control characters"],
    ["U+009F", "a\u009f", "must hold no control characters"],
    ["a newline", "a\n", "must hold no control characters"],
    ["129 bytes", `${long}q`, "must be at most 128 UTF-8 bytes"],
    [
      "129 bytes in 65 characters",
      `${"é".repeat(64)}a`,
      "must be at most 128 UTF-8 bytes, has 129",
    ],
    [
      "a high surrogate alone",
      "a\ud800",
      "must be well-formed Unicode (lone surrogate at offset 1",
    ],
    ["a low surrogate alone", "\udc00a", "must be well-formed Unicode (lone surrogate at offset 0"],
    [
      "surrogates in the wrong order",
      "\udc00\ud800",
      "must be well-formed Unicode (lone surrogate at offset 0",
    ],
    ["a leading space", " a", "must not begin or end with a space"],
    ["a trailing space", "a ", "must not begin or end with a space"],
    ["a space within the braces", "{a }", "must not begin or end with a space"],
    ["a space around the braces", " {a}", "must hold no braces"],
  ])("refuses %s", (_, given, reason) => {
    expect(() => queueName(given)).toThrow(ValidationError);
    expect(() => queueName(given)).toThrow(`queue: ${reason}`);
  });

  test.each([
    [undefined, "must be a string, got type undefined"],
    [null, "must be a string, got null"],
    [5, "must be a string, got type number; use String(value)"],
    [5n, "must be a string, got type bigint; use String(value)"],
    [["a"], "must be a string, got an array"],
    [{}, "must be a string, got type object"],
    [Symbol("a"), "must be a string, got type symbol"],
    [new String("a"), "must be a string, got type object"],
  ])("refuses what is no string (%#)", (given, reason) => {
    expect(() => queueName(given)).toThrow(`queue: ${reason}`);
  });

  test("allows U+00A0, the first character past the controls", () => {
    expect(queueName("a\u00a0b")).toBe("a\u00a0b");
  });

  test("names the option it was given for", () => {
    expect(() => queueName("", "children[0].queue")).toThrow(
      expect.objectContaining({
        code: "VALIDATION",
        option: "children[0].queue",
        reason: 'must not be empty, got ""',
      }),
    );
  });

  test("shows hostile text escaped and cut", () => {
    const hostile = `a:\n\u001b[31m${"x".repeat(1_000_000)}`;
    expect(() => queueName(hostile)).toThrow(/^[^\n]{1,150}$/);
  });
});

describe("wrap", () => {
  test("wraps once, however often it is called", () => {
    expect(wrap("orders")).toBe("{orders}");
    expect(wrap(wrap("orders"))).toBe("{orders}");
  });

  test("refuses what queueName refuses", () => {
    expect(() => wrap("emq")).toThrow(ValidationError);
  });
});

describe("jobId", () => {
  test.each([
    "meta",
    "wait",
    "completed",
    "__proto__",
    "constructor",
    "a:b:c",
    "007",
    "0",
    "-1",
    " ",
    "{x}",
    "v2:job:5",
    "😀",
    "i".repeat(512),
    "é".repeat(256),
  ])("takes %j", (id) => {
    expect(jobId(id)).toBe(id);
  });

  test.each([
    ["empty", "", "must not be empty"],
    ["513 bytes", "i".repeat(513), "must be at most 512 UTF-8 bytes"],
    [
      "513 bytes in 257 characters",
      `${"é".repeat(256)}a`,
      "must be at most 512 UTF-8 bytes, has 513",
    ],
    ["1 MB", "i".repeat(1_000_000), "must be at most 512 UTF-8 bytes"],
    ["U+0000", "a\u0000b", "must hold no control characters (one at offset 1)"],
    ["U+0085", "a\u0085b", "must hold no control characters"],
    ["a lone surrogate", "a\udfff", "must be well-formed Unicode (lone surrogate at offset 1"],
    ["a number", 7, "must be a string, got type number; use String(value)"],
    ["nothing", undefined, "must be a string, got type undefined"],
  ])("refuses %s", (_, id, reason) => {
    expect(() => jobId(id)).toThrow(`jobId: ${reason}`);
  });

  test("names the option it was given for", () => {
    expect(() => jobId("", "parent.id")).toThrow(expect.objectContaining({ option: "parent.id" }));
  });
});
