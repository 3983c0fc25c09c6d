import type { Command, RedisDriver, Reply } from "@echomq/scripts";
import { startServer, type TestServer } from "@echomq/testkit";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Queue } from "../../src/index.js";
import { makeDriver } from "../support/bench.js";
import { startCli } from "../support/cli.js";
import { found } from "../support/doctor-faults.js";

const NAME = "large";
/** Jobs in all, three quarters of them in line. */
const JOBS = 200_000;
/** Long ids, so that whoever kept them all would be seen. */
const PAD = "i".repeat(200);
/** MB of heap; the program alone takes two thirds of it, and the ids together would take as much. */
const HEAP = 64;

/** Fills a queue on the server itself, as scripts would have left it. */
const FILL = `
local base, pad = ARGV[1], ARGV[2]
for i = 1, tonumber(ARGV[3]), 1000 do
  local wait, ranked, ranks, late, done = {}, {}, {}, {}, {}
  for n = i, i + 999 do
    local id = n .. pad
    local key, kind = base .. 'job:' .. id, n % 16
    redis.call('HSET', key, 'name', 'x', 'data', '1', 'timestamp', n)
    if kind < 12 then wait[#wait + 1] = id
    elseif kind < 14 then
      ranked[#ranked + 1] = 3 * 4294967296 + 2147483648 + n
      ranked[#ranked + 1] = id
      ranks[#ranks + 1] = id
      ranks[#ranks + 1] = 3
    elseif kind == 14 then
      late[#late + 1] = 4102444800000 + n
      late[#late + 1] = id
    else
      redis.call('HSET', key, 'finishedOn', n)
      done[#done + 1] = n
      done[#done + 1] = id
    end
  end
  redis.call('LPUSH', base .. 'wait', unpack(wait))
  redis.call('ZADD', base .. 'prioritized', unpack(ranked))
  redis.call('HSET', base .. 'priorities', unpack(ranks))
  redis.call('ZADD', base .. 'delayed', unpack(late))
  redis.call('ZADD', base .. 'completed', unpack(done))
end
redis.call('SET', base .. 'pc', string.format('%.0f', 2147483648 + tonumber(ARGV[3])))
redis.call('ZADD', base .. 'marker', 0, '1' .. pad)`;

const key = (unit: string): string => `emq:{${NAME}}:v2:${unit}`;

let server: TestServer;
let client: Redis;

beforeAll(async () => {
  server = await startServer();
  client = new Redis(server.url);
  const queue = new Queue(NAME, { connection: server.url });
  await queue.add("x", 1);
  await queue.drain();
  await queue.close();
  await client.eval(FILL, 0, key(""), PAD, JOBS);
}, 120_000);

afterAll(async () => {
  client?.disconnect();
  await server?.stop();
});

/** The most that one call named and one reply brought. */
interface Widest {
  keys: number;
  entries: number;
}

function measured(driver: RedisDriver, widest: Widest): RedisDriver {
  const sent = (args: Command): void => {
    if (String(args[0]).startsWith("EVAL")) widest.keys = Math.max(widest.keys, Number(args[2]));
  };
  const came = (reply: Reply): void => {
    if (!Array.isArray(reply)) return;
    widest.entries = Math.max(widest.entries, reply.length);
    for (const each of reply) came(each);
  };
  return new Proxy(driver, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name === "command") {
        return async (args: Command, route?: Parameters<RedisDriver["command"]>[1]) => {
          sent(args);
          const reply = await target.command(args, route);
          came(reply);
          return reply;
        };
      }
      if (name === "pipeline") {
        return async (list: readonly Command[], route?: Parameters<RedisDriver["pipeline"]>[1]) => {
          for (const args of list) sent(args);
          const settled = await target.pipeline(list, route);
          widest.entries = Math.max(widest.entries, settled.length);
          for (const one of settled) if (one.ok) came(one.value);
          return settled;
        };
      }
      return value.bind(target);
    },
  });
}

describe("the doctor of 200 000 jobs", { timeout: 240_000 }, () => {
  test("goes in small steps, and finds what is wrong among all that is right", async () => {
    const driver = await makeDriver(server.url);
    onTestFinished(() => driver.close());
    const widest: Widest = { keys: 0, entries: 0 };
    const queue = new Queue(NAME, { connection: measured(driver, widest) });
    onTestFinished(() => queue.close());
    const clean = await queue.doctor();
    expect(clean).toMatchObject({ ok: true, findings: [] });
    expect(clean.looked).toBeGreaterThanOrEqual(JOBS * 2);
    // Nothing was in doubt, so nobody walked the line on the server.
    expect(await client.info("commandstats")).not.toContain("cmdstat_lpos:");

    await client.lpush(key("wait"), `32${PAD}`, "nobody");
    await client.hset(key("job:lost"), { name: "x", data: "1", timestamp: "1" });
    await client.zadd(key("failed"), 1, `16${PAD}`);
    await client.hset(key("priorities"), `12${PAD}`, 9);
    const wrong = [
      `missing-hash nobody`,
      `orphan-hash lost`,
      `two-places 16${PAD}`,
      `two-places 32${PAD}`,
      `wrong-priority 12${PAD}`,
    ];
    const mended = await queue.doctor({ fix: true });
    expect(mended.ok).toBe(true);
    expect(found(mended)).toEqual(wrong);
    expect(await queue.doctor({ fix: true })).toMatchObject({ ok: true, findings: [] });
    expect(await queue.getFailedCount()).toBe(1);
    // A hundred ids a call, five keys each, and the structures.
    expect(widest.keys).toBeLessThanOrEqual(100 * 5 + 20);
    // A page of a scan, whose pairs come flat; what the server packs into one bucket included.
    expect(widest.entries).toBeLessThanOrEqual(1_200);
  });

  test("as a program, with less memory than the ids take", async () => {
    const env = { NODE_OPTIONS: `--max-old-space-size=${HEAP}`, ECHOMQ_REDIS_URL: server.url };
    const end = await startCli(env, "doctor", NAME, "--json").done;
    expect(end).toMatchObject({ status: 0, signal: null });
    expect(JSON.parse(end.stdout)).toMatchObject({ ok: true, findings: [] });
  });
});
