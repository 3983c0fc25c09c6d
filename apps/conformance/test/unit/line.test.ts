import { describe, expect, test } from "vitest";
import { parseMonitorLine, sourceOf } from "../../src/monitor/line.js";

describe("a monitor line", () => {
  test("has a client's address and its arguments", () => {
    expect(parseMonitorLine('1700000000.000001 [0 127.0.0.1:60866] "SET" "a b" ""')).toEqual({
      source: "127.0.0.1:60866",
      args: ["SET", "a b", ""],
    });
  });

  test("of a script and of other kinds of address", () => {
    expect(sourceOf('1.2 [15 lua] "get" "x"')).toBe("lua");
    expect(sourceOf('1.2 [0 [::1]:6379] "get" "x"')).toBe("[::1]:6379");
    expect(sourceOf('1.2 [0 unix:/tmp/a.sock] "get" "x"')).toBe("unix:/tmp/a.sock");
  });

  test("is unescaped as bytes, then read as UTF-8", () => {
    const text = String.raw`1.2 [0 lua] "\"q\"" "\\" "\n\r\t\a\b" "\xc3\xbc" "] \"x" "\x01"`;
    const line = parseMonitorLine(text);
    expect(line?.args).toEqual(['"q"', "\\", "\n\r\t\u0007\b", "ü", '] "x', "\u0001"]);
  });

  test("anything else is none", () => {
    expect(parseMonitorLine("OK")).toBeNull();
    expect(sourceOf("")).toBeNull();
  });
});
