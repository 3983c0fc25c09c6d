import { startServer, type TestServer } from "@echomq/testkit";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ScriptName, SPECS } from "../../src/index.js";
import { type Bench, closeBench, openBench, T } from "../support/bench.js";
import { END, NAMES, populate } from "../support/population.js";
import { encodedCall, raw } from "../support/raw.js";

const WAITING = 200_000;
const ACTIVE = 50_000;
/** Most commands one call of a script may issue on the population, whatever stands in the queue. */
const COMMANDS: Partial<Record<ScriptName, number>> = {
  add: 180,
  push: 130,
  finish: 60,
  inspect: 150,
  mend: 200,
};
/** Walks of `wait` that a script may do, for at most 20 ids a call. */
const WALKS: Partial<Record<ScriptName, RegExp>> = {
  mend: /^(?:LPOS|LREM)$/i,
  remove: /^LREM$/i,
  rerank: /^LREM$/i,
  cancel: /^LREM$/i,
};

/** Fills a structure on the server itself, in one step. */
const FILL = `
for i = 1, tonumber(ARGV[1]), 1000 do
  local wait, active, owners, set = {}, {}, {}, {}
  for n = i, i + 999 do
    wait[#wait + 1] = 'big' .. n
    set[#set + 1] = n
    set[#set + 1] = 'big' .. n
    if n <= tonumber(ARGV[2]) then
      active[#active + 1] = ARGV[3] - n
      active[#active + 1] = 'run' .. n
      owners[#owners + 1] = 'run' .. n
      owners[#owners + 1] = ARGV[4]
    end
  end
  redis.call('RPUSH', KEYS[1], unpack(wait))
  for k = 4, #KEYS do redis.call('ZADD', KEYS[k], unpack(set)) end
  if #active > 0 then
    redis.call('ZADD', KEYS[2], unpack(active))
    redis.call('HSET', KEYS[3], unpack(owners))
  end
end`;

/** Commands the script of one call issues, seen by MONITOR. */
async function issued(redis: Redis, work: () => Promise<unknown>): Promise<string[][]> {
  const monitor = await redis.duplicate().monitor();
  const seen: string[][] = [];
  const end = new Promise<void>((resolve) => {
    monitor.on("monitor", (_time: string, args: string[], source: string) => {
      if (args[0]?.toLowerCase() === "echo") resolve();
      else if (source === "lua") seen.push(args.map(String));
    });
  });
  await work();
  await redis.echo("end");
  await end;
  monitor.disconnect();
  return seen;
}

/** Members a ranged read can answer, or 0 for a command that reads no range. */
function reach([name = "", , ...args]: readonly string[]): number {
  const word = name.toUpperCase();
  const limit = args.findIndex((arg) => arg.toUpperCase() === "LIMIT");
  if (/^Z(?:REV)?RANGEBYSCORE$/.test(word)) {
    return limit === -1 ? Number.POSITIVE_INFINITY : Number(args[limit + 2]);
  }
  if (word === "LRANGE" || word === "ZRANGE") {
    const [from, to] = [Number(args[0]), Number(args[1])];
    return from < 0 === to < 0 ? to - from + 1 : Number.POSITIVE_INFINITY;
  }
  if (word === "HGETALL") return 30;
  return /^(?:SMEMBERS|HKEYS|HVALS|KEYS|SCAN|HSCAN|ZSCAN|SSCAN|LREM|LPOS|SORT)$/.test(word)
    ? Number.POSITIVE_INFINITY
    : 0;
}

// One engine: what a script asks for is the same text on both.
describe("a queue of 200 000 waiting and 50 000 active", () => {
  let server: TestServer;
  let b: Bench;
  beforeAll(async () => {
    server = await startServer({ engine: "redis" });
    b = await openBench("redis", server.url);
    await populate(b, 101);
    const units = ["wait", "active", "owners", "delayed", "completed", "failed", "trash"] as const;
    const keys = units.map((unit) => b.unit(unit));
    await b.redis.eval(FILL, keys.length, ...keys, WAITING, ACTIVE, -END - 1, `${T}:t`);
    // What the population put there is what the calls name: it stays ahead of the line.
    for (const id of ["w0", "w1"]) {
      await b.redis.lrem(b.unit("wait"), 1, id);
      await b.redis.rpush(b.unit("wait"), id);
    }
  });
  afterAll(async () => {
    await closeBench(b);
    await server?.stop();
  });

  test.each(NAMES)("%s looks at no more than its bound", async (name) => {
    const bound = Math.max(SPECS[name].bound * 2, 100);
    // Under a limit `turn` leaves the work to `step`.
    if (name === "turn") await b.redis.hdel(b.unit("meta"), "concurrency", "rate.max");
    const seen = await issued(b.redis, async () => {
      expect(await raw(b, name, encodedCall(name, b.q))).toHaveProperty("reply");
    });
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.length).toBeLessThanOrEqual(COMMANDS[name] ?? 40);
    for (const command of seen.filter(([word = ""]) => !WALKS[name]?.test(word)))
      expect(reach(command), command.join(" ")).toBeLessThanOrEqual(bound);
    // No command carries more members than a batch has.
    for (const command of seen) expect(command.length).toBeLessThanOrEqual(4 * bound + 8);
  });

  test("nothing was walked into: the structures are as large as they were, but for a batch", async () => {
    expect(await b.redis.llen(b.unit("wait"))).toBeGreaterThan(WAITING - 1_000);
    expect(await b.redis.zcard(b.unit("active"))).toBeGreaterThan(ACTIVE - 1_000);
    expect(await b.redis.zcard(b.unit("completed"))).toBeGreaterThan(WAITING - 1_000);
  });
});
