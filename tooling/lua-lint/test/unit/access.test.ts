import { expect, test } from "vitest";
import { accessOf } from "../../src/access.js";

const seen = (source: string): unknown => {
  const { commands, keys } = accessOf(source);
  const letters = [...keys].map(([position, { read, write }]) => [
    position,
    `${read ? "r" : ""}${write ? "w" : ""}`,
  ]);
  return { commands, ...Object.fromEntries(letters) };
};

test("commands come sorted, once, and in upper case", () => {
  expect(
    seen(
      "redis.call('zadd', KEYS[1], 1, 'a') redis.pcall('GET', KEYS[2]) redis.call('ZADD', KEYS[1], 1, 'b')",
    ),
  ).toEqual({ commands: ["GET", "ZADD"], 1: "w", 2: "r" });
});

test("a size is no reading, a pop is both", () => {
  expect(
    seen("redis.call('LLEN', KEYS[1]) redis.call('RPOP', KEYS[2]) redis.call('EXISTS', KEYS[3])"),
  ).toEqual({ commands: ["EXISTS", "LLEN", "RPOP"], 1: "", 2: "rw", 3: "" });
});

test("keys are followed through locals, tables and functions", () => {
  const source = `
    local wait, done = KEYS[1], KEYS[2]
    local function put(key, id) redis.call('RPUSH', key, id) end
    put(wait, ARGV[1])
    for _, set in ipairs({ done, KEYS[3] }) do redis.call('ZCARD', set) end
    for i = 1, 3 do redis.call('COPY', KEYS[3 + i], KEYS[1]) end`;
  expect(seen(source)).toEqual({
    commands: ["COPY", "RPUSH", "ZCARD"],
    1: "w",
    2: "",
    3: "",
    "*": "r",
  });
});

test("a function nothing calls gives no rights", () => {
  const source =
    "local function gone() redis.call('FLUSHALL') redis.call('DEL', KEYS[1]) end return 1";
  expect(seen(source)).toEqual({ commands: [] });
});

test("what is not in the inventory is refused, not left out", () => {
  expect(() => accessOf("redis.call('CONFIG', 'GET', 'x')")).toThrow(
    "CONFIG is not in the inventory",
  );
  expect(() => accessOf("redis.call(ARGV[1], KEYS[1])")).toThrow("a computed command");
  expect(() => accessOf("redis.call(")).toThrow();
});
