import { startServer, type TestServer, uniqueQueue } from "@echomq/testkit";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createMigration } from "../../src/index.js";
import { plant, type Seed, type SeedJob } from "../support/seed.js";
import { makeDriver, openClient } from "../support/servers.js";
import { v1State, v2State } from "../support/state.js";

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.stop());

const text = fc.string({ unit: "binary", maxLength: 40 }).filter((value) => value.isWellFormed());
// Ids as wild as v2 allows, but none that would name another key of the queue.
const id = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
  .map((value) => `j${value}`)
  .filter((value) => !/[\p{Cc}:]/u.test(value) && value.isWellFormed());
const states = fc.constantFrom("wait", "paused", "prioritized", "delayed", "completed", "failed");

const job: fc.Arbitrary<SeedJob> = fc
  .record({
    id,
    state: states,
    priority: fc.integer({ min: 1, max: 2_097_152 }),
    time: fc.integer({ min: 1_700_000_000_000, max: 1_700_000_000_003 }),
    fraction: fc.integer({ min: 0, max: 4_095 }),
    fields: fc.dictionary(
      text.filter((name) => name !== "" && name !== "parentKey" && name !== "priority"),
      text,
      { maxKeys: 5 },
    ),
    logs: fc.array(text, { maxLength: 3 }),
  })
  .map(({ id: name, state, priority, time, fraction, fields, logs }) => ({
    id: name,
    state: state as SeedJob["state"],
    priority: state === "prioritized" || (state === "delayed" && fraction % 2 === 0) ? priority : 0,
    score:
      state === "prioritized"
        ? priority * 2 ** 32 + fraction
        : state === "delayed"
          ? time * 4_096 + fraction
          : time,
    fields: { ...fields },
    logs,
  }));

const queues: fc.Arbitrary<Seed> = fc.record({
  jobs: fc.uniqueArray(job, { selector: (one) => one.id, maxLength: 40 }),
  meta: fc.oneof(
    fc.constant({ version: "bullmq:5.65.1" }),
    fc.constant({ version: "bullmq:6.7.0", paused: "1", concurrency: "3" }),
    fc.constant({ "opts.maxLenEvents": "500" }),
  ),
  dangling: fc
    .uniqueArray(
      fc.record({ id: id.map((value) => `ghost-${value}`), state: states, score: fc.nat() }),
      {
        selector: (one) => one.id,
        maxLength: 3,
      },
    )
    .map((list) => list as Seed["dangling"]),
  dedups: fc.uniqueArray(
    fc.record({ id, job: fc.constant("j1"), ttl: fc.constantFrom(0, 900_000) }),
    { selector: (one) => one.id, maxLength: 3 },
  ),
});

test("copying twice is copying once, and a rollback is as if nothing had been", async () => {
  const client = openClient(server.url);
  const driver = await makeDriver(server.url);
  await fc.assert(
    fc.asyncProperty(
      queues,
      fc.integer({ min: 1, max: 50 }),
      fc.nat(60),
      async (seed, batch, stopAt) => {
        await client.flushall();
        const queue = uniqueQueue("any");
        await plant(client, `bull:${queue}:`, seed);
        const before = await v1State(client, queue);
        const stop = new AbortController();
        let steps = 0;
        const first = await createMigration({
          source: driver,
          queue,
          batch,
          signal: stop.signal,
          onProgress: ({ phase }) => {
            if (phase === "copy") steps += 1;
            if (steps > stopAt) stop.abort();
          },
        });
        const second = await createMigration({ source: driver, queue, batch: 250 });
        try {
          await first.fence();
          await first.copy().catch((error: { reason?: string }) => {
            if (error.reason !== "ABORTED") throw error;
          });
          await second.copy();
          const once = await v2State(client, queue);
          const again = await second.copy();
          expect(again.copied).toBe(0);
          expect(await v2State(client, queue)).toEqual(once);
          const verified = await second.verify();
          expect(verified.jobs).toBe(seed.jobs.length);
          expect(verified.dangling.count).toBe(seed.dangling.length);
          expectOrder(await members(client, queue), seed);
          await second.rollback();
          expect(await v1State(client, queue)).toEqual(before);
          expect(await client.keys(`emq:{${queue}}:*`)).toEqual([]);
        } finally {
          await first.close();
          await second.close();
        }
      },
    ),
    { numRuns: 60 },
  );
  await driver.close();
  client.disconnect();
});

interface Members {
  readonly wait: readonly string[];
  readonly prioritized: readonly string[];
  readonly delayed: readonly string[];
}

async function members(client: ReturnType<typeof openClient>, queue: string): Promise<Members> {
  const unit = (name: string): string => `emq:{${queue}}:v2:${name}`;
  return {
    wait: (await client.lrange(unit("wait"), 0, -1)).reverse(),
    prioritized: await client.zrange(unit("prioritized"), 0, -1),
    delayed: await client.zrange(unit("delayed"), 0, -1),
  };
}

/** v2 hands out jobs in the order v1 would have. */
function expectOrder(found: Members, { jobs }: Seed): void {
  const ids = (state: SeedJob["state"]): string[] =>
    jobs.filter((one) => one.state === state).map((one) => one.id);
  expect(found.wait).toEqual([...ids("paused"), ...ids("wait")]);
  for (const state of ["prioritized", "delayed"] as const) {
    const scores = new Map(jobs.map((one) => [one.id, one.score]));
    const order = found[state].map((one) => scores.get(one) ?? 0);
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect([...found[state]].sort()).toEqual(ids(state).sort());
  }
}
