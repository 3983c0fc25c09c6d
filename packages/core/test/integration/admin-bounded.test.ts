import type { RedisDriver } from "@echomq/scripts";
import { startServer, type TestServer } from "@echomq/testkit";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Queue } from "../../src/index.js";
import { makeDriver } from "../support/bench.js";

const JOBS = 200_000;
const NAME = "large";

/** Fills a queue on the server itself: as many jobs waiting as failed, added a second ago. */
const FILL = `
for i = 1, tonumber(ARGV[1]), 1000 do
  local wait, failed = {}, {}
  for n = i, i + 999 do
    wait[#wait + 1] = 'w' .. n
    failed[#failed + 1] = n
    failed[#failed + 1] = 'f' .. n
    redis.call('HSET', ARGV[2] .. 'w' .. n, 'name', 'x', 'data', '1', 'timestamp', n)
    redis.call('HSET', ARGV[2] .. 'f' .. n, 'name', 'x', 'data', '1', 'timestamp', n)
  end
  redis.call('LPUSH', KEYS[1], unpack(wait))
  redis.call('ZADD', KEYS[2], unpack(failed))
end`;

let server: TestServer;
let client: Redis;

beforeAll(async () => {
  server = await startServer({ engine: "redis" });
  client = new Redis(server.url);
  const queue = new Queue(NAME, { connection: server.url });
  await queue.add("x", 1);
  await queue.drain();
  await queue.close();
  const key = (unit: string): string => `emq:{${NAME}}:v2:${unit}`;
  await client.eval(FILL, 2, key("wait"), key("failed"), JOBS, key("job:"));
}, 120_000);
afterAll(async () => {
  client?.disconnect();
  await server?.stop();
});

/** A queue, how many calls it has sent, and the most arguments of one. */
async function counted(): Promise<{ queue: Queue; seen: { calls: number; widest: number } }> {
  const driver = await makeDriver(server.url);
  const seen = { calls: 0, widest: 0 };
  const note = (args: readonly unknown[]): void => {
    seen.calls += 1;
    seen.widest = Math.max(seen.widest, args.length);
  };
  const counting = new Proxy(driver, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name !== "command") return value.bind(target);
      const command: RedisDriver["command"] = (args, route) => {
        note(args);
        return target.command(args, route);
      };
      return command;
    },
  });
  const queue = new Queue(NAME, { connection: counting });
  onTestFinished(async () => {
    await queue.close();
    await driver.close();
  });
  await queue.getJobCounts();
  seen.calls = 0;
  return { queue, seen };
}

test("clean takes its limit out of 200 000 in as many calls as the limit asks for", async () => {
  const { queue, seen } = await counted();
  const failed = await queue.clean(0, 1_000, "failed");
  expect(failed).toHaveLength(1_000);
  expect(failed[0]).toBe("f1");
  // Ten pages of a look, a removal and its burial; a few calls for the clock and unknown scripts.
  expect(seen.calls).toBeLessThan(60);
  seen.calls = 0;
  const waiting = await queue.clean(0, 1_000, "waiting");
  expect(waiting).toHaveLength(1_000);
  expect(waiting[0]).toBe("w1");
  expect(seen.calls).toBeLessThan(220);
  expect(seen.widest).toBeLessThan(1_000);
});

test("retryJobs and drain go page by page, and no call carries more than a page", async () => {
  const { queue, seen } = await counted();
  const before = 2_000;
  expect(await queue.retryJobs({ timestamp: before })).toBe(1_000);
  expect(seen.calls).toBeLessThan(40);
  seen.calls = 0;
  expect(await queue.drain()).toBe(JOBS);
  // 400 pages of 500, each buried by hundreds.
  expect(seen.calls).toBeLessThan(JOBS / 500 + (2 * JOBS) / 100 + 50);
  expect(seen.widest).toBeLessThan(1_000);
  const { waiting, failed } = await queue.getJobCounts();
  expect({ waiting, failed }).toEqual({ waiting: 0, failed: JOBS - 2_000 });
}, 120_000);
