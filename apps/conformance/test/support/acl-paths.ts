import { setTimeout as sleep } from "node:timers/promises";
import { Queue, Worker } from "@echomq/core";
import { createMigration } from "@echomq/migrate";
import { Dispatcher, finishScript, owedScript, type RedisDriver } from "@echomq/scripts";
import { Queue as V1Queue, Worker as V1Worker } from "bullmq";
import type { Redis } from "ioredis";

/** A queue and the client that prepares and looks, with every right. */
export interface Stage {
  readonly q: string;
  readonly admin: Redis;
  readonly prefixes: readonly string[];
}

const key = ({ q }: Stage, unit: string): string => `emq:{${q}}:v2:${unit}`;

async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  for (let n = 0; n < 1_000; n += 1) {
    if (await look()) return;
    await sleep(20);
  }
  throw new Error(`still not so: ${what}`);
}

function optionsOf(stage: Stage, driver: RedisDriver) {
  return { connection: driver, v1Prefixes: stage.prefixes, retryTime: 0 };
}

/** All a producer does. */
export async function produce(stage: Stage, driver: RedisDriver): Promise<void> {
  const queue = new Queue(stage.q, optionsOf(stage, driver));
  try {
    await queue.waitUntilReady();
    await queue.add("one", { n: 1 });
    await queue.addBulk([
      { name: "front", data: {}, opts: { lifo: true } },
      { name: "ranked", data: {}, opts: { priority: 3 } },
      { name: "ranked", data: {}, opts: { priority: 3 } },
      { name: "ranked", data: {}, opts: { priority: 3, lifo: true } },
      { name: "later", data: {}, opts: { delay: 3_600_000 } },
      { name: "later", data: {}, opts: { delay: 3_600_000 } },
      { name: "named", data: {}, opts: { jobId: "named" } },
    ]);
    // The same id again answers with the job that stands.
    await queue.add("other", {}, { jobId: "named" });
    // A retired namesake is cleared first.
    await stage.admin.hset(key(stage, "job:retired"), "name", "old", "data", "{}", "timestamp", 1);
    await stage.admin.rpush(key(stage, "logs:retired"), "line");
    await stage.admin.sadd(key(stage, "extras"), "retired");
    await stage.admin.zadd(key(stage, "trash"), 1, "retired");
    await queue.add("retired", {}, { jobId: "retired", priority: 1 });
    await deduplicate(stage, queue);
  } finally {
    await queue.close();
  }
}

/** Everything `add` makes of a job that another one stands for. */
async function deduplicate({ q, admin }: Stage, queue: Queue): Promise<void> {
  const delay = 3_600_000;
  const ttl = { id: "d", ttl: delay };
  await queue.add("first", {}, { deduplication: ttl });
  await queue.add("dropped", {}, { deduplication: { ...ttl, extend: true } });
  await queue.add("first", {}, { delay, deduplication: { id: "r", ttl: delay } });
  await queue.add("instead", {}, { delay, deduplication: { id: "r", ttl: delay, replace: true } });
  // One that runs keeps the last behind it.
  const last = { id: "k", keepLastIfActive: true };
  const kept = await queue.add("runs", {}, { deduplication: last });
  const key = (unit: string): string => `emq:{${q}}:v2:${unit}`;
  await admin.zadd(key("active"), 1, kept.id);
  await queue.add("kept", {}, { deduplication: last });
  // Only now, or the first worker to come takes it for lost.
  await admin.zrem(key("active"), kept.id);
}

const KEEP_LAST = { id: "last", keepLastIfActive: true };

/** Jobs for a worker: some end well, some fail, some wait, some lost their worker. */
async function fill(stage: Stage, queue: Queue): Promise<void> {
  const { admin } = stage;
  await queue.addBulk([
    ...Array.from({ length: 5 }, (_, n) => ({ name: "plain", data: { n } })),
    { name: "ranked", data: {}, opts: { priority: 2 } },
    { name: "ranked", data: {}, opts: { priority: 1, attempts: 2 } },
    { name: "fails", data: {}, opts: { attempts: 2, priority: 5 } },
    { name: "fails", data: {}, opts: { attempts: 2 } },
    { name: "fails", data: {}, opts: { attempts: 2, backoff: 30 } },
    { name: "plain", data: {}, opts: { delay: 100 } },
    { name: "plain", data: {}, opts: { delay: 100, priority: 4 } },
    { name: "slow", data: {} },
    { name: "stray", data: {} },
    { name: "gone", data: {}, opts: { jobId: "gone", removeOnComplete: true } },
    { name: "locked", data: {}, opts: { deduplication: { id: "l" } } },
    // Keeps its successor back until it ends.
    { name: "slow", data: {}, opts: { jobId: "holder", deduplication: KEEP_LAST } },
  ]);
  // One job has a log, so its keys are more than its hash; two were lost with their worker.
  await admin.rpush(key(stage, "logs:gone"), "line");
  await admin.sadd(key(stage, "extras"), "gone");
  for (const [id, priority] of [
    ["lost", 0],
    ["lost-ranked", 7],
    ["doomed", 0],
  ] as const) {
    const fields = { name: "plain", data: "{}", opts: "", timestamp: 1, delay: 0, priority };
    await admin.hset(key(stage, `job:${id}`), { ...fields, stc: id === "doomed" ? 9 : 0 });
    if (priority > 0) await admin.hset(key(stage, "priorities"), id, priority);
    await admin.hset(key(stage, "owners"), id, "1:dead!");
    await admin.zadd(key(stage, "active"), -1, id);
  }
}

/** All a worker does: every end of a job, the sweep, a close over a running job. */
export async function work(stage: Stage, driver: RedisDriver, full: RedisDriver): Promise<void> {
  const { admin } = stage;
  const queue = new Queue(stage.q, optionsOf(stage, full));
  const { delayed: resting } = await queue.getJobCounts();
  const worker = new Worker(
    stage.q,
    async (job) => {
      if (job.name === "fails") throw new Error("on purpose");
      if (job.name === "slow") await sleep(900);
      if (job.name === "endless") await new Promise(() => undefined);
      // A job that stands nowhere is looked for everywhere.
      if (job.name === "stray") await admin.zrem(key(stage, "active"), job.id);
      await job.getState();
      return job.data;
    },
    {
      ...optionsOf(stage, driver),
      concurrency: 3,
      lockDuration: 1_000,
      stalledInterval: 150,
      removeOnComplete: { count: 3, age: 3_600 },
      removeOnFail: 2,
      limiter: { max: 10_000, duration: 1_000 },
      metrics: { maxDataPoints: 10 },
    },
  );
  const broken = new Promise<never>((_, reject) => {
    worker.on("error", reject);
  });
  const done = async (): Promise<boolean> => {
    const { waiting, prioritized, delayed, active } = await queue.getJobCounts();
    return waiting + prioritized + active === 0 && delayed === resting;
  };
  try {
    // It may be the first to come to the queue.
    await Promise.race([worker.waitUntilReady(), broken]);
    await fill(stage, queue);
    const held = async (): Promise<boolean> =>
      (await admin.zscore(key(stage, "active"), "holder")) !== null;
    await Promise.race([until("the holder runs", held), broken]);
    await queue.add("kept", {}, { deduplication: KEEP_LAST });
    await Promise.race([until("all are done", done), broken]);
    await until("what left is buried", async () => (await admin.zcard(key(stage, "trash"))) === 0);
    // Blocked now, so this one comes by a wake-up; the worker gives it back when it closes.
    await queue.add("endless", {});
    const runs = async (): Promise<boolean> => (await queue.getJobCounts()).active === 1;
    await Promise.race([until("it runs", runs), broken]);
    // Sent by a worker after a reconnect that lost the reply of a claim.
    await driver.command(["HSCAN", key(stage, "owners"), "0", "COUNT", "500"]);
    await driver.command(["ZMSCORE", key(stage, "active"), "holder"]);
  } finally {
    await worker.close({ timeout: 0 });
    await queue.close();
  }
  await leaveLetter(stage, driver);
}

/** The end of a run that owes a letter. No worker is left to deliver it: that takes more rights. */
async function leaveLetter(stage: Stage, driver: RedisDriver): Promise<void> {
  const { q, admin } = stage;
  await admin.hset(key(stage, "job:letter"), "name", "x", "data", "{}", "timestamp", 1);
  await admin.hset(key(stage, "owners"), "letter", "1:mine");
  await admin.zadd(key(stage, "active"), 9e12, "letter");
  const lane = Dispatcher.over(driver, { retryMs: 0 });
  const keep = { keepCount: 1, keepAge: 0, failCount: 1, failAge: 0 };
  const end = { token: "mine", how: "failed", atm: 1, ats: 1, delay: 0, lock: 0 };
  const items = [{ ...end, value: "on purpose", stack: "", letter: "{}" }];
  const call = { q, jobs: ["letter"], dedups: [], args: { now: Date.now(), ...keep }, items };
  await lane.run(finishScript, call);
  const owed = await lane.run(owedScript, { q, args: { now: Date.now() + 60_000, limit: 1 } });
  if (owed.length !== 1) throw new Error("no letter was left");
}

/** All an administrator does. */
export async function administer(
  stage: Stage,
  driver: RedisDriver,
  full: RedisDriver,
): Promise<void> {
  const maker = new Queue(stage.q, optionsOf(stage, full));
  const queue = new Queue(stage.q, optionsOf(stage, driver));
  try {
    await queue.pause();
    await maker.add("x", {}, { jobId: "x", priority: 2 });
    if (!(await queue.isPaused())) throw new Error("is not paused");
    await queue.resume();
    await stage.admin.del(key(stage, "marker"));
    await queue.pause();
    await maker.add("y", {}, { jobId: "y" });
    await queue.resume();
    await queue.getJobCounts();
    await queue.getJobs();
    await queue.getCountsPerPriority([0, 2]);
    await queue.getJobLogs("x");
    await queue.getMetrics("completed");
    await queue.getMetrics("failed");
    const [seconds] = await stage.admin.time();
    await stage.admin.zadd(key(stage, "workers"), Number(seconds) * 1_000, "w");
    await stage.admin.hset(key(stage, "workers-info"), "w", "{}");
    if ((await queue.getWorkers()).length === 0) throw new Error("sees no worker");
    if ((await (await queue.getJob("x"))?.getState()) !== "prioritized")
      throw new Error("no job x");
  } finally {
    await queue.close();
    await maker.close();
  }
}

/** A queue of the real v1 package with jobs in every state. */
export async function makeV1(url: string, queue: string): Promise<void> {
  const { hostname: host, port } = new URL(url);
  const connection = { host, port: Number(port) };
  const v1 = new V1Queue(queue, { connection });
  const worker = new V1Worker(
    queue,
    async (job) => {
      if (job.name === "fails") throw new Error("on purpose");
      await job.log("line");
    },
    { connection, metrics: { maxDataPoints: 10 }, drainDelay: 1 },
  );
  await v1.add("done", {});
  await v1.add("fails", {});
  await new Promise((resolve) => worker.on("drained", () => resolve(null)));
  await worker.close();
  await v1.add("dedup", {}, { deduplication: { id: "once", ttl: 3_600_000 } });
  await v1.addBulk(Array.from({ length: 20 }, (_, n) => ({ name: "wait", data: { n } })));
  await v1.add("ranked", {}, { priority: 2 });
  await v1.add("later", {}, { delay: 3_600_000, priority: 1 });
  await v1.setGlobalConcurrency(9);
  await v1.close();
}

/** All a migrator does: there and back, there for good, repaired, and removed. */
export async function migrate(stage: Stage, driver: RedisDriver): Promise<void> {
  const migration = await createMigration({ source: driver, queue: stage.q });
  try {
    await migration.discover();
    await migration.plan();
    await migration.drain();
    await migration.fence();
    await migration.copy();
    await migration.verify();
    await migration.rollback();
    await migration.runAll();
    await migration.rollback();
    await migration.runAll();
    await stage.admin.del(`emq:{${stage.q}}:meta`);
    await migration.repair();
    await migration.purge();
    if ((await migration.status()).state !== "done") throw new Error("is not done");
    await migration.remove({ yes: true });
  } finally {
    await migration.close();
  }
}
