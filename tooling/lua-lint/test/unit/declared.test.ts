import { describe, expect, test } from "vitest";
import { type BadCase, badRows, type Case, found, goodRows, UNPACK, WRITES } from "./cases.js";

const BAD: readonly BadCase[] = [
  ["a concatenated key", ["1 W1"], ["return redis.call('GET', KEYS[1] .. ':x')"]],
  [
    "a formatted key",
    ["2 W1"],
    ["local k = string.format('%s:x', KEYS[1])", "return redis.call('GET', k)"],
  ],
  ["a literal key", ["1 W1"], ["return redis.call('GET', 'emq:{q}:meta')"]],
  ["a key through ARGV", ["1 W1"], ["return redis.call('GET', ARGV[1])"]],
  ["an alias of ARGV", ["2 W1"], ["local args = ARGV", "return redis.call('GET', args[1])"]],
  [
    "an alias of an element of ARGV",
    ["2 W1"],
    ["local a, k = KEYS[1], ARGV[1]", "return redis.call('GET', k)"],
  ],
  [
    "a key through a stored value",
    ["2 W1"],
    ["local job = redis.call('HMGET', KEYS[1], 'parentKey')", "return redis.call('GET', job[1])"],
  ],
  ["a piece of a key", ["1 W1"], ["return redis.call('GET', string.sub(KEYS[1], 1, 4))"]],
  ["a method of a key", ["1 W1"], ["return redis.call('GET', KEYS[1]:sub(1, 4))"]],
  [
    "a key built in a table",
    ["3 W1"],
    [
      "local keys = {}",
      "for i = 1, 3 do keys[i] = KEYS[1] .. i end",
      "return redis.call('EXISTS', keys[1])",
    ],
  ],
  [
    "a table fed once with another value",
    ["4 W1"],
    [
      "local keys = {}",
      "keys[1] = KEYS[1]",
      "keys[#keys + 1] = ARGV[1]",
      "return redis.call('GET', keys[1])",
    ],
  ],
  [
    "a variable assigned once from another value",
    ["3 W1"],
    ["local k = KEYS[1]", "if ARGV[2] then k = ARGV[1] end", "return redis.call('GET', k)"],
  ],
  [
    "a parameter fed once with another value",
    ["1 W1"],
    [
      "local function get(k) return redis.call('GET', k) end",
      "get(KEYS[1])",
      "return get(ARGV[1])",
    ],
  ],
  [
    "a parameter left out by a call",
    ["1 W1"],
    ["local function get(k) return redis.call('GET', k) end", "return get()"],
  ],
  [
    "a function's result",
    ["2 W1"],
    [
      "local function name(k) if k then return k end return 'x' end",
      "return redis.call('GET', name(KEYS[1]))",
    ],
  ],
  [
    "unpack of a mixed list",
    ["3 W1"],
    [UNPACK, "local list = { KEYS[1], ARGV[1] }", "return redis.call('EXISTS', unpack(list))"],
  ],
  [
    "the wrong field of a record",
    ["4 W1"],
    [
      UNPACK,
      "local kept = {}",
      "kept[1] = { 7, KEYS[1] }; local i, k = unpack(kept[1]); redis.call('GET', k)",
      "return redis.call('GET', i)",
    ],
  ],
  [
    "a record after a removal",
    ["3 W1"],
    ["local r = { 7, KEYS[1] }", "table.remove(r)", "return redis.call('GET', r[2])"],
  ],
  [
    "a loop over a mixed list",
    ["1 W1"],
    ["for _, k in ipairs({ KEYS[1], 'x' }) do redis.call('GET', k) end"],
  ],
  [
    "the indices of a table of keys",
    ["1 W1"],
    ["for k in pairs({ [KEYS[1]] = true }) do redis.call('GET', k) end"],
  ],
  ["the second key of a command", ["1 W1"], ["return redis.call('EXISTS', KEYS[1], ARGV[1])"]],
  [
    "every other operand of MSET",
    ["1 W1"],
    ["return redis.call('MSET', KEYS[1], 1, 'x', 2)"],
    WRITES,
  ],
  [
    "the destination of RENAME",
    ["1 W1"],
    ["return redis.call('RENAME', KEYS[1], ARGV[1])"],
    WRITES,
  ],
  ["a key in place of the whole list", ["1 W1"], ["return redis.call('GET', KEYS)"]],
  [
    "a choice with one bad side",
    ["1 W1"],
    ["return redis.call('GET', ARGV[1] and KEYS[1] or 'x')"],
  ],
  [
    "a local that hides KEYS",
    ["2 W1"],
    ["local KEYS = { 'x' }", "return redis.call('GET', KEYS[1])"],
  ],
  ["a variable never set", ["2 W1"], ["local k", "return redis.call('GET', k)"]],
  [
    "an argument of a variadic function",
    ["1 W1"],
    ["local function f(...) return redis.call('GET', ...) end", "return f(ARGV[1])"],
  ],
  ["a computed command", ["1 W1"], ["return redis.call(ARGV[1], KEYS[1])"]],
  ["a command in a variable", ["2 W1"], ["local cmd = 'GET'", "return redis.call(cmd, KEYS[1])"]],
  ["redis.call as a value", ["1 W1"], ["local call = redis.call", "return call('GET', 'x')"]],
  ["redis.pcall handed on", ["1 W1", "1 W10"], ["return pcall(redis.pcall, 'GET', 'x')"]],
  ["redis by another name", ["1 W1"], ["local r = redis", "return r.call('GET', 'x')"]],
  ["redis by index", ["1 W1"], ["return redis['call']('GET', 'x')"]],
  ["redis replaced", ["1 W1"], ["redis.call = tostring"]],
  ["KEYS replaced", ["1 W1"], ["KEYS = { ARGV[1] }"]],
  ["KEYS changed", ["1 W1"], ["KEYS[1] = ARGV[1]"]],
  ["KEYS changed through an alias", ["2 W1"], ["local k = KEYS", "k[1] = ARGV[1]"]],
  ["KEYS changed by the library", ["1 W1"], ["table.insert(KEYS, ARGV[1])"]],
  ["KEYS handed to an unknown function", ["1 W1", "1 W1"], ["return ARGV[1](KEYS)"]],
  ["KEYS handed to loadstring", ["1 W1", "1 W4"], ["return loadstring('return 1')(KEYS)"]],
  ["the table of globals", ["1 W1"], ["return _G.redis.call('GET', 'x')"]],
  [
    "a bad key in a function that nothing calls",
    ["1 W1"],
    ["local function get() return redis.call('GET', ARGV[1]) end", "return 1"],
  ],
  ["a metatable", ["1 W1"], ["local t = setmetatable({}, {})"]],
];

const GOOD: readonly Case[] = [
  [
    "a literal and a computed index",
    ["local n = 1", "return redis.call('EXISTS', KEYS[1], KEYS[n + 1])"],
  ],
  [
    "an alias of an alias",
    ["local a, b = KEYS[1], KEYS[2]", "local c = b", "return redis.call('GET', c)"],
  ],
  ["an alias of KEYS", ["local k = KEYS", "return redis.call('GET', k[1])"]],
  [
    "a table of keys",
    ["local t = {}", "for i = 1, #KEYS do t[i] = KEYS[i] end", "return redis.call('GET', t[1])"],
  ],
  [
    "a table by id",
    [
      "local cand = {}",
      "cand[string.sub(KEYS[1], 5)] = KEYS[1]",
      "local k = cand[ARGV[1]]",
      "if k then redis.call('GET', k) end",
    ],
  ],
  [
    "unpack of a list of keys",
    [UNPACK, "local t = {}", "t[#t + 1] = KEYS[3]", "return redis.call('UNLINK', unpack(t))"],
    WRITES,
  ],
  [
    "unpack after the key",
    [UNPACK, "local h = { 'f', ARGV[1] }", "return redis.call('HSET', KEYS[1], unpack(h))"],
    WRITES,
  ],
  [
    "a loop over keys",
    ["for _, set in ipairs({ KEYS[1], KEYS[2] }) do redis.call('ZCARD', set) end"],
  ],
  ["a loop over KEYS", ["for _, k in ipairs(KEYS) do redis.call('EXISTS', k) end"]],
  [
    "a record by position",
    [
      UNPACK,
      "local kept = {}",
      "kept[#kept + 1] = { 1, KEYS[2], 'x' }",
      "local i, key, row = unpack(kept[1])",
      "return redis.call('HLEN', key)",
    ],
  ],
  [
    "a record by literal index",
    [
      "local sets = { { 'a', KEYS[1] } }",
      "for _, s in ipairs(sets) do redis.call('ZCARD', s[2]) end",
    ],
  ],
  [
    "a record by name",
    ["local r = { key = KEYS[1], id = ARGV[1] }", "return redis.call('GET', r.key)"],
  ],
  ["a choice between keys", ["return redis.call('ZCARD', ARGV[1] == 'c' and KEYS[1] or KEYS[2])"]],
  [
    "a parameter always fed with keys",
    [
      "local function card(k) return redis.call('ZCARD', k) end",
      "card(KEYS[1])",
      "return card(KEYS[2])",
    ],
  ],
  [
    "a function's result",
    [
      "local function second() return 1, KEYS[2] end",
      "local _, k = second()",
      "return redis.call('GET', k)",
    ],
  ],
  [
    "a function that nothing calls",
    ["local function get(k) return redis.call('GET', k) end", "return 1"],
  ],
  [
    "an inner block that hides a name",
    ["local k = KEYS[1]", "do local k = ARGV[1] end", "return redis.call('GET', k)"],
  ],
  [
    "a variadic function fed with keys",
    ["local function f(...) return redis.call('EXISTS', ...) end", "return f(KEYS[1], KEYS[2])"],
  ],
];

describe("a key operand outside KEYS is found", () => {
  test.each(badRows(BAD))("$title", ({ source, findings, options }) => {
    expect(found(source, options)).toEqual(findings);
  });
});

describe("an element of KEYS is followed", () => {
  test.each(goodRows(GOOD))("$title", ({ source, options }) => {
    expect(found(source, options)).toEqual([]);
  });
});
