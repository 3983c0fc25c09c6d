import { describe, expect, test } from "vitest";
import { lintScript } from "../../src/index.js";
import {
  type BadCase,
  badRows,
  bare,
  type Case,
  FENCE,
  found,
  goodRows,
  UNPACK,
  WRITES,
} from "./cases.js";

const BAD: readonly BadCase[] = [
  // W4
  ["TIME", ["1 W4"], ["return redis.call('TIME')"]],
  ["a random command", ["1 W4"], ["return redis.call('srandmember', KEYS[1])"]],
  ["SPOP", ["1 W4"], ["return redis.call('SPOP', KEYS[1])"]],
  [
    "RANDOMKEY in a function nothing calls",
    ["1 W4"],
    ["local function f() redis.call('RANDOMKEY') end", "return 1"],
  ],
  ["math.random", ["2 W4"], ["local a = 1", "return math.random(a)"]],
  ["os.time", ["1 W4"], ["return os.time()"]],
  ["io", ["1 W4"], ["return io.read()"]],
  ["load", ["1 W4"], ["return load('return 1')()"]],
  ["require", ["1 W4"], ["local x = require('x')"]],
  ["setresp", ["1 W4"], ["redis.setresp(3)"]],
  ["replicate_commands", ["1 W4"], ["redis.replicate_commands()"]],
  ["cjson.decode", ["1 W4"], ["return cjson.encode(cjson.decode(ARGV[1]))"]],
  // W6
  ["LRANGE 0 -1", ["1 W6"], ["return redis.call('LRANGE', KEYS[1], 0, -1)"]],
  ["LRANGE '0' '-1'", ["1 W6"], ["return redis.call('LRANGE', KEYS[1], '0', '-1')"]],
  ["ZRANGE 0 -1", ["1 W6"], ["return redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')"]],
  [
    "ZRANGEBYSCORE without a limit",
    ["1 W6"],
    ["return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])"],
  ],
  ["SMEMBERS", ["1 W6"], ["return redis.call('SMEMBERS', KEYS[1])"]],
  ["HGETALL", ["1 W6"], ["return redis.call('HGETALL', KEYS[1])"]],
  ["KEYS", ["1 W6"], ["return redis.call('KEYS', '*')"]],
  ["SCAN", ["1 W6"], ["return redis.call('SCAN', '0')"]],
  // W7
  ["a refusal without a class", ["1 W7"], ["return redis.error_reply('no such job')"]],
  ["a class of another registry", ["1 W7"], ["return redis.error_reply('EMQOTHER no')"]],
  ["a class without a detail", ["1 W7"], ["return redis.error_reply('EMQARG')"]],
  ["a class with a blank detail", ["1 W7"], ["return redis.error_reply('EMQARG ')"]],
  ["a class glued to its detail", ["1 W7"], ["return redis.error_reply('EMQARG' .. ARGV[1])"]],
  ["a class in a variable", ["2 W7"], ["local text = ARGV[1]", "return redis.error_reply(text)"]],
  ["a status with an unknown class", ["1 W7"], ["return { 'EMQGONE no job' }"]],
  ["an error table by hand", ["1 W7"], ["return { err = 'EMQARG jobs' }"]],
  ["a negative answer", ["1 W7"], ["return -1"]],
  // W10
  ["a command nobody listed", ["1 W10"], ["return redis.call('LMPOP', 1, KEYS[1], 'LEFT')"]],
  ["a command with counted keys", ["1 W10"], ["return redis.call('ZUNION', 1, KEYS[1])"]],
  ["an option of 7.0", ["1 W10"], ["return redis.call('PEXPIRE', KEYS[1], 10, 'NX')"], WRITES],
  ["cmsgpack", ["1 W10"], ["return cmsgpack.pack(1)"]],
  ["a library not on every server", ["1 W10"], ["return bit.band(1, 1)"]],
  ["unpack of 5.1 only", ["1 W10"], ["return unpack({ 1 })"]],
  ["table.getn", ["1 W10"], ["return table.getn({})"]],
  ["a global written", ["1 W10"], ["x = 1"]],
  ["a global function", ["1 W10"], ["function f() end"]],
  ["a name from Object.prototype", ["1 W10"], ["return constructor"]],
  ["a goto, which 5.1 lacks", ["1 W10"], ["goto done ::done::"]],
  ["broken syntax, in both versions", ["2 W10", "2 W10"], ["local x = 1", "local = 2"]],
  // W5
  [
    "a key met first after a write",
    ["2 W5"],
    ["redis.call('SET', KEYS[1], '1')", "redis.call('HSET', KEYS[2], 'a', 1)"],
    WRITES,
  ],
  [
    "a read of another type proves nothing",
    ["3 W5"],
    [
      "redis.call('ZSCORE', KEYS[3], 'a') redis.call('HLEN', KEYS[2])",
      "redis.call('SET', KEYS[1], '1')",
      "redis.call('ZADD', KEYS[2], 1, 'a')",
    ],
    WRITES,
  ],
  [
    "INCR after a write",
    ["3 W5"],
    [
      "redis.call('GET', KEYS[2])",
      "redis.call('SET', KEYS[1], '1')",
      "redis.call('INCR', KEYS[2])",
    ],
    WRITES,
  ],
  [
    "XADD after a write",
    ["3 W5"],
    [
      "redis.call('XLEN', KEYS[2])",
      "redis.call('SET', KEYS[1], '1')",
      "redis.call('XADD', KEYS[2], '*', 'a', 'b')",
    ],
    WRITES,
  ],
  // W12 and the manifest
  [
    "UNLINK before HSET in add",
    ["1 W12"],
    ["redis.call('UNLINK', KEYS[1])", "redis.call('HSET', KEYS[1], 'name', 'x')"],
    { name: "add", writes: true },
  ],
  [
    "ZADD before ZREM in finish",
    ["2 W12"],
    [
      "redis.call('ZCARD', KEYS[1])",
      "redis.call('ZADD', KEYS[1], 1, 'a')",
      "redis.call('ZREM', KEYS[1], 'a')",
    ],
    { name: "finish", writes: true },
  ],
  [
    "a function called before the first free",
    ["1 W12"],
    [
      "local function arm() redis.call('ZADD', KEYS[1], 1, 'a') end",
      "arm()",
      "redis.call('ZREM', KEYS[1], 'b')",
    ],
    { name: "step", writes: true },
  ],
  ["a write in a reading script", ["1 manifest"], ["redis.call('SET', KEYS[1], '1')"]],
  [
    "a writing script that never writes",
    ["1 manifest"],
    ["return redis.call('GET', KEYS[1])"],
    WRITES,
  ],
];

const GOOD: readonly Case[] = [
  [
    "ranges with an end",
    [
      "redis.call('LRANGE', KEYS[1], -16, -1)",
      "redis.call('ZRANGE', KEYS[2], 0, 99)",
      "return redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', 5, 'LIMIT', 0, 10)",
    ],
  ],
  ["a small whole by name", ["return redis.call('HGETALL', KEYS[1])"], { name: "node" }],
  ["a refusal with a computed detail", ["return redis.error_reply('EMQARG ' .. ARGV[1])"]],
  ["a status of an item", ["return { 'ok', 'EMQSTALE no lease' }"]],
  [
    "the library both Luas have",
    [UNPACK, "return string.format('%.0f', math.floor(tonumber(ARGV[1]) or 0))"],
  ],
  ["bytes over 127", ["return 'é' -- ü"]],
  [
    "a write after a read of its type",
    [
      "redis.call('HLEN', KEYS[2])",
      "redis.call('ZREM', KEYS[1], 'a')",
      "redis.call('HSET', KEYS[2], 'a', 1)",
    ],
    WRITES,
  ],
  [
    "keys of a group after a write",
    [
      "redis.call('ZREM', KEYS[1], 'a')",
      "for i = 2, #KEYS do redis.call('HSET', KEYS[i], 'a', 1) end",
    ],
    WRITES,
  ],
  [
    "XADD by pcall after a write",
    ["redis.call('ZREM', KEYS[1], 'a')", "redis.pcall('XADD', KEYS[2], '*', 'a', 'b')"],
    WRITES,
  ],
  [
    "SET and UNLINK take any type",
    [
      "redis.call('ZREM', KEYS[1], 'a')",
      "redis.call('SET', KEYS[2], '1')",
      "redis.call('UNLINK', KEYS[3])",
    ],
    WRITES,
  ],
  [
    "a refusal caught by pcall is not the first write",
    [
      "redis.call('ZCARD', KEYS[1])",
      "redis.pcall('XADD', KEYS[2], '*', 'a', 'b')",
      "redis.call('ZREM', KEYS[1], 'a')",
    ],
    { name: "recover", writes: true },
  ],
];

const PATHS: readonly BadCase[] = [
  [
    "a write in a branch that returns does not come before the rest",
    [],
    [
      "if ARGV[1] then return redis.call('UNLINK', KEYS[1]) end",
      "redis.call('ZCARD', KEYS[2])",
      "redis.call('SET', KEYS[1], '1')",
    ],
    WRITES,
  ],
  [
    "a write in a branch that goes on does",
    ["2 W5"],
    ["if ARGV[1] then redis.call('UNLINK', KEYS[1]) end", "redis.call('ZCARD', KEYS[2])"],
    WRITES,
  ],
  [
    "a branch does not see its sibling",
    [],
    [
      "if ARGV[1] then redis.call('SET', KEYS[1], '1')",
      "else redis.call('HSET', KEYS[2], 'a', 1) end",
    ],
    WRITES,
  ],
  [
    "each path has a first write",
    ["2 W12"],
    [
      "if ARGV[1] then return redis.call('ZREM', KEYS[1], 'a') end",
      "return redis.call('ZADD', KEYS[1], 1, 'a')",
    ],
    { name: "finish", writes: true },
  ],
  [
    "a return inside a function ends only the function",
    ["3 W5"],
    [
      "local function f() if ARGV[1] then return redis.call('UNLINK', KEYS[1]) end end",
      "f()",
      "redis.call('ZCARD', KEYS[2])",
    ],
    WRITES,
  ],
];

describe("order follows the paths of a script", () => {
  test.each(badRows(PATHS))("$title", ({ source, findings, options }) => {
    expect(found(source, options)).toEqual(findings);
  });
});

describe("a script that breaks a law is found at its line", () => {
  test.each(badRows(BAD))("$title", ({ source, findings, options }) => {
    expect(found(source, options)).toEqual(findings);
  });
});

describe("a script that keeps the laws passes", () => {
  test.each(goodRows(GOOD))("$title", ({ source, options }) => {
    expect(found(source, options)).toEqual([]);
  });
});

describe("the fence comes first", () => {
  const rest = ["return redis.call('GET', stamp)"];

  test("as the prologue writes it", () => {
    expect(found([...FENCE, ...rest].join("\n"), { fence: "step" })).toEqual([]);
  });

  test.each<readonly [string, string, string]>([
    [
      "another call before it",
      "local stamp = KEYS[1]",
      "local stamp = KEYS[1] redis.call('LLEN', KEYS[2])",
    ],
    ["by call, which raises", "redis.pcall(", "redis.call("],
    ["another key", "KEYS[1]", "KEYS[2]"],
    ["a computed key", "KEYS[1]", "KEYS[#KEYS]"],
    ["another command", "'GET'", "'EXISTS'"],
    ["another major", "echomq:2.", "echomq:3."],
    ["no refusal", "EMQFENCE ", "EMQARG "],
  ])("not with %s", (_, from, to) => {
    const source = [...FENCE, ...rest].join("\n").replace(from, to);
    expect(lintScript(source, bare({ fence: "step" })).map(({ rule }) => rule)).toEqual(["W3"]);
  });

  test("not in a script that calls nothing", () => {
    expect(found("return 1", { fence: "reserve" })).toEqual(["1 W3"]);
  });
});

test("a finding says where the value comes from", () => {
  const source = "local k = KEYS[1] .. ':x'\nreturn redis.call('GET', k)";
  expect(lintScript(source, bare())).toEqual([
    {
      rule: "W1",
      line: 2,
      message: "GET: a key may be a concatenation in line 1, not an element of KEYS",
    },
  ]);
});
