import { type AnyJob, Queue, Worker } from "@echomq/core";
import type { RedisDriver } from "@echomq/scripts";
import { dumpAll, type KeyDump, startServer, type TestServer } from "@echomq/testkit";
import { FenceError, migratingStamp, stampKey, WIRE_VERSION } from "@echomq/wire";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { admin, DRIVERS, openDriver, thrownBy } from "../support/clients.js";

const HOUR_MS = 3_600_000;

/** What stands at the stamp in the middle of a run, and the code that names it. */
const CHANGES = [
  {
    to: "a migration's stamp",
    code: "MIGRATION_IN_PROGRESS",
    change: (redis: Redis, key: string) => redis.set(key, migratingStamp("r1", "fence")),
  },
  {
    to: "a v1 hash",
    code: "V1_INTRUSION",
    change: async (redis: Redis, key: string) => {
      await redis.del(key);
      await redis.hset(key, "opts.maxLenEvents", "10000", "version", "bullmq:5.65.1");
    },
  },
  {
    to: "nothing",
    code: "V1_INTRUSION",
    change: (redis: Redis, key: string) => redis.del(key),
  },
  {
    to: "another major",
    code: "MAJOR_MISMATCH",
    change: (redis: Redis, key: string) => redis.set(key, "echomq:3.0.0"),
  },
  {
    to: "a text of somebody else",
    code: "FOREIGN_VERSION",
    change: (redis: Redis, key: string) => redis.set(key, "hello"),
  },
] as const;

describe.each(DRIVERS)("the stamp changes in the middle of a run, through %s", (name) => {
  let server: TestServer;
  let driver: RedisDriver;
  let redis: Redis;

  beforeAll(async () => {
    server = await startServer();
    driver = await openDriver(name, server.url);
    redis = admin(server.url);
  });

  afterAll(async () => {
    redis.disconnect();
    await driver.close();
    await server.stop();
  });

  describe.each(CHANGES)("to $to", ({ to, code, change }) => {
    let count = 0;
    const next = (): string => {
      count += 1;
      return `${name} ${to} ${count}`;
    };

    test.each([
      ["the handlers return", "return"],
      ["the handlers throw", "throw"],
    ] as const)("a worker finds out when %s", async (_, how) => {
      const q = next();
      const held = await holding(q, driver, { lockDuration: HOUR_MS });
      await change(redis, stampKey(q));
      const before = await keysOf(redis, q);

      held.release(how);

      const error = await held.ended;
      expect(error).toMatchObject({ name: "FenceError", code, queue: q });
      expect(await keysOf(redis, q)).toEqual(before);
      await expectWhole(q, held.jobs, redis, driver);
    });

    test("a producer and a reader find out at their next call", async () => {
      const q = next();
      const queue = new Queue(q, { connection: driver });
      const { id } = await queue.add("known", { n: 1 });
      await change(redis, stampKey(q));
      const before = await keysOf(redis, q);
      for (const call of [
        () => queue.add("late", {}),
        () => queue.addBulk([{ name: "late", data: {} }]),
        () => queue.pause(),
        () => queue.resume(),
        () => queue.getJob(id),
        () => queue.getJobCounts(),
        () => queue.isPaused(),
      ]) {
        expect(await thrownBy(call)).toMatchObject({ name: "FenceError", code });
      }
      expect(await keysOf(redis, q)).toEqual(before);
      await queue.close();
    });
  });
});

describe.each(DRIVERS)("a busy worker, through %s", (name) => {
  const title = "finds out when it renews its leases, whatever the stamp became";
  test(title, { timeout: 15_000 }, async () => {
    await using server = await startServer();
    const driver = await openDriver(name, server.url);
    const redis = admin(server.url);
    await Promise.all(
      CHANGES.map(async ({ to, code, change }) => {
        const held = await holding(to, driver, { lockDuration: 500 });
        await change(redis, stampKey(to));
        const before = await keysOf(redis, to);
        expect(await held.ended).toMatchObject({ name: "FenceError", code, queue: to });
        expect(await keysOf(redis, to)).toEqual(before);
        expect(held.reasons.map((reason) => (reason as FenceError).code)).toEqual(
          held.jobs.map(() => code),
        );
        held.release("return");
        await expectWhole(to, held.jobs, redis, driver);
        await expectRecovery(to, held.jobs, driver);
      }),
    );
    redis.disconnect();
    await driver.close();
  });
});

test.each(DRIVERS)("an emptied server is opened anew, through %s", async (name) => {
  await using server = await startServer();
  const driver = await openDriver(name, server.url);
  const redis = admin(server.url);
  const queue = new Queue("orders", { connection: driver });
  await queue.add("gone", {});
  const ran: string[] = [];
  const worker = new Worker("orders", async (job) => void ran.push(job.name), {
    connection: driver,
    autorun: false,
  });
  worker.on("error", () => undefined);
  await redis.flushall();
  expect(await queue.getJobCounts()).toMatchObject({ waiting: 0 });
  expect(await redis.keys("*")).toEqual([]);
  await queue.add("anew", {});
  expect(await redis.get(stampKey("orders"))).toBe(WIRE_VERSION);
  const drained = new Promise<void>((resolve) => worker.on("drained", resolve));
  await worker.run();
  await drained;
  expect(ran).toEqual(["anew"]);
  await redis.flushall();
  await queue.add("again", {});
  await expect.poll(() => ran, { timeout: 10_000 }).toEqual(["anew", "again"]);
  await Promise.all([queue.close(), worker.close()]);
  redis.disconnect();
  await driver.close();
});

describe.each(DRIVERS)("an idle worker, through %s", (name) => {
  test("finds out when its wait for work ends, whatever the stamp became", async () => {
    await using server = await startServer();
    const driver = await openDriver(name, server.url);
    const redis = admin(server.url);
    const idle = CHANGES.map(({ to, code, change }) => {
      const worker = new Worker(to, async () => undefined, { connection: driver });
      return { q: to, code, change, ended: endOf(worker) };
    });
    await waitUntilBlocked(redis, idle.length);
    for (const { q, change } of idle) await change(redis, stampKey(q));
    const before = await dumpAll(redis);
    const ends = await Promise.all(idle.map(({ ended }) => ended));
    expect(ends.map((error) => (error as FenceError).code)).toEqual(idle.map(({ code }) => code));
    expect(await dumpAll(redis)).toEqual(before);
    redis.disconnect();
    await driver.close();
  });
});

async function waitUntilBlocked(redis: Redis, count: number): Promise<void> {
  for (;;) {
    const info = await redis.info("clients");
    if (Number(/^blocked_clients:(\d+)/m.exec(info)?.[1]) === count) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

interface Held {
  readonly jobs: readonly { readonly id: string; readonly data: unknown }[];
  /** The error that ended the worker. */
  readonly ended: Promise<unknown>;
  /** Why the handlers' signals fired. */
  readonly reasons: readonly unknown[];
  release(how: "return" | "throw"): void;
}

/** A worker with three jobs in flight. */
async function holding(
  q: string,
  connection: RedisDriver,
  options: { lockDuration: number },
): Promise<Held> {
  const queue = new Queue(q, { connection });
  const jobs = await queue.addBulk([1, 2, 3].map((n) => ({ name: "held", data: { n } })));
  await queue.close();
  let release: Held["release"] = () => undefined;
  const gate = new Promise<"return" | "throw">((resolve) => {
    release = resolve;
  });
  const reasons: unknown[] = [];
  let running = 0;
  let allRun = (): void => undefined;
  const started = new Promise<void>((resolve) => {
    allRun = resolve;
  });
  const worker = new Worker(
    q,
    async (_job: AnyJob<never>, { signal }) => {
      signal.addEventListener("abort", () => reasons.push(signal.reason));
      running += 1;
      if (running === jobs.length) allRun();
      if ((await gate) === "throw") throw new Error("as wanted");
    },
    { connection, concurrency: 3, stalledInterval: HOUR_MS, autorun: false, ...options },
  );
  const ended = endOf(worker as Worker);
  await worker.run();
  await started;
  return { jobs: jobs.map(({ id, data }) => ({ id, data })), ended, reasons, release };
}

/** The fence's error, once the worker has told it and has closed by itself. */
function endOf(worker: Worker): Promise<unknown> {
  let told: unknown;
  const others: unknown[] = [];
  worker.on("error", (error) => {
    if (error instanceof FenceError) told ??= error;
    else others.push(error);
  });
  return new Promise((resolve) => worker.on("closed", () => resolve(told ?? others)));
}

/** Every key of the queue and every reserve key but the node leases, which live by time. */
async function keysOf(redis: Redis, q: string): Promise<Map<string, KeyDump>> {
  const all = await dumpAll(redis);
  return new Map([...all].filter(([key]) => key.startsWith(`emq:{${q}}:`)));
}

/** With the stamp back, the jobs are where they were, as they were. */
async function expectWhole(
  q: string,
  jobs: Held["jobs"],
  redis: Redis,
  connection: RedisDriver,
): Promise<void> {
  await redis.del(stampKey(q));
  await redis.set(stampKey(q), WIRE_VERSION);
  await using queue = new Queue(q, { connection });
  expect(await queue.getJobCounts()).toMatchObject({
    active: jobs.length,
    completed: 0,
    failed: 0,
  });
  for (const { id, data } of jobs) {
    expect(await queue.getJob(id)).toMatchObject({ id, data, attemptsMade: 0 });
  }
}

/** Another worker runs each job once their leases have ended. */
async function expectRecovery(
  q: string,
  jobs: Held["jobs"],
  connection: RedisDriver,
): Promise<void> {
  const ran: string[] = [];
  await new Promise<void>((resolve) => {
    const worker = new Worker(
      q,
      async (job) => {
        ran.push(job.id);
        if (ran.length === jobs.length) setImmediate(() => void worker.close().then(resolve));
      },
      { connection, lockDuration: 100, stalledInterval: 100 },
    );
  });
  expect(ran.sort()).toEqual(jobs.map(({ id }) => id).sort());
}
