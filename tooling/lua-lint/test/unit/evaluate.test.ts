import { describe, expect, test } from "vitest";
import { type BadCase, badRows, type Case, found, goodRows, UNPACK } from "./cases.js";

// Ways a value takes through a script: each of these once looked like a key without being one.
const BAD: readonly BadCase[] = [
  [
    "a table under two names",
    ["3 W1"],
    ["local t = { KEYS[1] }", "local u = t; u[1] = ARGV[1]", "return redis.call('GET', t[1])"],
  ],
  [
    "a function that hands on whatever it gets",
    ["3 W1"],
    [
      "local function same(x) return x end",
      "same(ARGV[1])",
      "return redis.call('GET', same(KEYS[1]))",
    ],
  ],
  [
    "a variable that changes at the end of a loop",
    ["2 W1"],
    ["local k = KEYS[1]", "while k do redis.call('GET', k) k = ARGV[1] end"],
  ],
  [
    "a loop variable that is changed",
    ["1 W1"],
    ["for _, k in ipairs(KEYS) do k = k .. 'x' redis.call('GET', k) end"],
  ],
  [
    "a variable changed by an inner function",
    ["4 W1"],
    [
      "local k = KEYS[1]",
      "local function spoil() k = 'x' end",
      "spoil()",
      "return redis.call('GET', k)",
    ],
  ],
  [
    "one field in two spellings",
    ["3 W1"],
    ["local t = { x = KEYS[1] }", "t['x'] = ARGV[1]", "return redis.call('GET', t.x)"],
  ],
  [
    "a computed index that may be any",
    ["3 W1"],
    ["local t = { x = KEYS[1] }", "t[ARGV[1]] = ARGV[2]", "return redis.call('GET', t.x)"],
  ],
  [
    "an insert in the middle",
    ["3 W1"],
    [
      "local t = { KEYS[1], KEYS[2] }",
      "table.insert(t, 1, ARGV[1])",
      "return redis.call('GET', t[2])",
    ],
  ],
  [
    "an insert of several values",
    ["4 W1"],
    [
      UNPACK,
      "local t, more = {}, { 1, 'x' }",
      "table.insert(t, unpack(more))",
      "return redis.call('GET', t[1])",
    ],
  ],
  ["a joined list", ["1 W1"], ["return redis.call('GET', table.concat({ KEYS[1] }))"]],
  [
    "a callback of the library",
    ["1 W1"],
    ["string.gsub('abc', '.', function(c) redis.call('GET', c) end)"],
  ],
  [
    "a key kept in a reply",
    ["3 W1"],
    [
      "local reply = redis.call('HMGET', KEYS[1], 'a')",
      "reply[1] = KEYS[1]",
      "return redis.call('GET', reply[1])",
    ],
  ],
  [
    "a table changed by what a reply holds",
    ["4 W1"],
    [
      "local reply, t = redis.call('HMGET', KEYS[1], 'a'), { KEYS[1] }",
      "reply[1] = t",
      "reply[1][1] = ARGV[1]",
      "return redis.call('GET', t[1])",
    ],
  ],
  [
    "a recursion that brings another value",
    ["1 W1"],
    [
      "local function f(k, n) redis.call('GET', k) if n > 0 then f(ARGV[1], n - 1) end end",
      "f(KEYS[1], 1)",
    ],
  ],
  [
    "a method, whose first parameter is hidden",
    ["2 W1"],
    [
      "local t = {}",
      "function t:get(k) return redis.call('GET', k) end",
      "return t.get(KEYS[1], ARGV[1])",
    ],
  ],
  [
    "a method of a table",
    ["2 W1"],
    ["local t = { get = function(k) return k end }", "return t:get(KEYS[1])"],
  ],
  [
    "one of two functions",
    ["3 W1"],
    [
      "local function a() return KEYS[1] end",
      "local f = ARGV[1] and a or function() return 'x' end",
      "return redis.call('GET', f())",
    ],
  ],
  [
    "an iterator of the script's own",
    ["2 W1", "2 W1"],
    ["local function step() return 'x' end", "for k in step do redis.call('GET', k) end"],
  ],
];

const GOOD: readonly Case[] = [
  [
    "two names of one table, both fed with keys",
    ["local t = {}", "local u = t; u[#u + 1] = KEYS[1]", "return redis.call('GET', t[1])"],
  ],
  [
    "a table in a table",
    ["local t = { { k = { KEYS[1] } } }", "return redis.call('GET', t[1].k[1])"],
  ],
  [
    "a sorted list of keys",
    ["local t = { KEYS[2], KEYS[1] }", "table.sort(t)", "return redis.call('GET', t[1])"],
  ],
  [
    "a function in a table",
    [
      "local f = { card = function(k) return redis.call('ZCARD', k) end }",
      "return f.card(KEYS[1])",
    ],
  ],
  [
    "a function declared before it is written",
    [
      "local f",
      "local function g() return f(KEYS[1]) end",
      "f = function(k) return redis.call('GET', k) end",
      "return g()",
    ],
  ],
  [
    "a swap of keys",
    ["local a, b = KEYS[1], KEYS[2]", "a, b = b, a", "return redis.call('GET', a)"],
  ],
  [
    "a key or nil",
    ["local k = ARGV[1] == '1' and KEYS[1] or nil", "if k then redis.call('GET', k) end"],
  ],
];

describe("a value that only looks like a key", () => {
  test.each(badRows(BAD))("$title", ({ source, findings, options }) => {
    expect(found(source, options)).toEqual(findings);
  });
});

describe("a key by a long way", () => {
  test.each(goodRows(GOOD))("$title", ({ source, options }) => {
    expect(found(source, options)).toEqual([]);
  });
});
