import { describe, expect, test } from "vitest";
import { keyRule } from "../../src/strict/escape.js";
import { keysOf } from "../../src/strict/keys.js";

describe("keysOf", () => {
  test.each([
    [
      ["EVALSHA", "sha", "2", "a", "b", "arg"],
      ["a", "b"],
    ],
    [["eval", "return 1", "0", "arg"], []],
    [["FCALL", "name", "1", "a"], ["a"]],
    [["TIME"], []],
    [["SCRIPT", "LOAD", "return 1"], []],
    [["HSET", "h", "f", "v"], ["h"]],
    [
      ["DEL", "a", "b"],
      ["a", "b"],
    ],
    [
      ["BZPOPMIN", "a", "b", "5"],
      ["a", "b"],
    ],
    [
      ["MSET", "a", "1", "b", "2"],
      ["a", "b"],
    ],
    [
      ["XREAD", "BLOCK", "5", "STREAMS", "s1", "s2", "$", "$"],
      ["s1", "s2"],
    ],
    [["XREADGROUP", "GROUP", "g", "c", "streams", "s", ">"], ["s"]],
    [["OBJECT", "ENCODING", "a"], ["a"]],
    [
      ["LMOVE", "a", "b", "LEFT", "RIGHT"],
      ["a", "b"],
    ],
    [["LMPOP", "1", "a", "LEFT"], ["a"]],
    [
      ["BLMPOP", "0", "2", "a", "b", "LEFT"],
      ["a", "b"],
    ],
  ])("%j declares %j", (command, keys) => {
    expect(keysOf(command)).toEqual(keys);
  });

  test("reads binary arguments", () => {
    const key = new Uint8Array([0, 255]);
    expect(keysOf([Buffer.from("EVAL"), "return 1", Buffer.from("1"), key])).toEqual([key]);
  });

  test.each([
    [["NOSUCH", "a"]],
    [[]],
    [["EVAL", "return 1", "2", "a"]],
    [["EVAL", "return 1", "x"]],
    [["EVAL", "return 1", "-1"]],
  ])("%j is refused", (command) => {
    expect(() => keysOf(command)).toThrow(/strict mode/);
  });
});

describe("keyRule", () => {
  test.each([
    ["emq:{q}:v2:wait", "~emq:{q}:v2:wait"],
    ["a*b?c[d]e\\f^g-h", "~a\\*b\\?c\\[d\\]e\\\\f\\^g\\-h"],
    ["a b\tc\0d", "~a?b?c?d"],
    ["ключ", "~ключ"],
    ["", "~"],
  ])("%j becomes %j", (key, rule) => {
    expect(keyRule(key).toString("utf8")).toBe(rule);
  });
});
