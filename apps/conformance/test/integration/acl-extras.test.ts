import { setTimeout as sleep } from "node:timers/promises";
import { Queue, QueueEvents, QueueEventsProducer, Worker } from "@echomq/core";
import { type Engine, startServer, uniqueQueue } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { adminOf, driverOf, makeUser, REFUSED, refusedTo } from "../support/acl-user.js";

/** So many jobs ended. Trouble of the worker is its error. */
function ended(worker: Worker, how: "completed" | "failed", count = 1): Promise<unknown> {
  let seen = 0;
  return new Promise((resolve, reject) => {
    worker.on(how, () => {
      seen += 1;
      if (seen === count) resolve(null);
    });
    worker.on("error", reject);
  });
}

const ENGINES: readonly Engine[] = ["redis", "valkey"];

describe.each(ENGINES)("what a role is given besides on %s", (engine) => {
  async function opened() {
    const server = await startServer({ engine });
    onTestFinished(() => server.stop());
    const { url } = server;
    const q = uniqueQueue("more");
    const dead = uniqueQueue("dead");
    const options = async (role: string, ...extras: string[]) => {
      const argv = ["--queue", q, "--role", role, "--v1-prefix", "bull"];
      if (engine === "valkey") argv.push("--server", "7.2");
      if (extras.length > 0) argv.push("--with", ...extras);
      // Letters go from the queue to the other one, and are brought back from there.
      if (extras.includes("letters")) argv.push("--other", dead);
      if (extras.includes("redrive")) {
        argv[1] = dead;
        argv.push("--other", q);
      }
      const user = await makeUser(url, ...argv, "--user", [role, ...extras].join("-"));
      const connection = await driverOf(user);
      return { name: user.name, options: { connection, v1Prefixes: ["bull"], retryTime: 0 } };
    };
    return { admin: adminOf(url), q, dead, options };
  }

  test("a producer with events waits for its job's end", async () => {
    const { admin, q, options } = await opened();
    const boss = await options("worker");
    const worker = new Worker(
      q,
      (job) => ({ was: job.data, long: "x".repeat(20_000) }),
      boss.options,
    );
    onTestFinished(() => worker.close());
    const producer = await options("producer", "events");
    const queue = new Queue(q, producer.options);
    onTestFinished(() => queue.close());
    const events = new QueueEvents(q, producer.options);
    onTestFinished(() => events.close());
    await events.waitUntilReady();
    const result = await queue.addAndWait("x", 7, undefined, { events, timeout: 20_000 });
    expect(result).toMatchObject({ was: 7 });
    expect(await refusedTo(admin, producer.name)).toEqual([]);
    // Without them it is told so, and adds all the same.
    const plain = await options("producer");
    const deaf = new QueueEvents(q, { ...plain.options, autorun: false });
    onTestFinished(() => deaf.close());
    const reading = new Promise((resolve) => deaf.on("error", resolve));
    void deaf.run().catch(() => undefined);
    expect(String(await reading)).toMatch(REFUSED);
  });

  test("a producer with publish tells events of its own", async () => {
    const { admin, q, options } = await opened();
    const producer = await options("producer", "publish");
    const told = new QueueEventsProducer(q, producer.options);
    onTestFinished(() => told.close());
    expect(await told.publishEvent({ eventName: "mine" })).toMatch(/^\d+-\d+:0$/);
    expect(await refusedTo(admin, producer.name)).toEqual([]);
  });

  test("an admin with doctor finds and mends", async () => {
    const { admin, q, options } = await opened();
    const boss = await options("admin", "doctor");
    const queue = new Queue(q, boss.options);
    onTestFinished(() => queue.close());
    await queue.pause();
    const key = (unit: string): string => `emq:{${q}}:v2:${unit}`;
    await admin.hset(key("job:orphan"), "name", "x", "data", "{}", "timestamp", 1);
    await admin.lpush(key("wait"), "nobody");
    await admin.zadd(key("active"), -1, "idle");
    await admin.hset(key("owners"), "gone", "1:t!");
    await admin.hset(key("priorities"), "gone", 3);
    await admin.hset(key("verdicts"), "gone", "failed");
    await admin.sadd(key("extras"), "gone");
    await admin.zadd(key("trash"), 1, "trashed");
    await admin.set(key("pc"), "x");
    await admin.hset(key("dedup:d"), "job", "gone");
    await admin.rpush(key("logs:orphan"), "line");
    const report = await queue.doctor({ fix: true });
    expect(report.findings.length).toBeGreaterThan(5);
    expect(report.findings.some(({ fixed }) => fixed)).toBe(true);
    expect(await refusedTo(admin, boss.name)).toEqual([]);
  });

  test("a worker with handlers writes what its handler says", async () => {
    const { admin, q, options } = await opened();
    const boss = await options("worker", "handlers", "limits");
    const producer = await options("producer");
    const queue = new Queue(q, producer.options);
    onTestFinished(() => queue.close());
    const { id } = await queue.add("x", { n: 1 });
    const worker = new Worker(
      q,
      async (job) => {
        await job.updateData({ n: 2 });
        await job.updateProgress(50);
        await job.log("line");
        await worker.rateLimit(1);
      },
      boss.options,
    );
    onTestFinished(() => worker.close());
    await ended(worker, "completed");
    expect(await queue.getJob(id)).toMatchObject({ data: { n: 2 }, progress: 50 });
    expect(await admin.llen(`emq:{${q}}:v2:logs:${id}`)).toBe(1);
    expect(await refusedTo(admin, boss.name)).toEqual([]);
  });

  test("an admin with cancel ends a job that runs, and one that waits", async () => {
    const { admin, q, options } = await opened();
    const boss = await options("admin", "cancel");
    const queue = new Queue(q, boss.options);
    onTestFinished(() => queue.close());
    const producer = await options("producer");
    const maker = new Queue(q, producer.options);
    onTestFinished(() => maker.close());
    const { id } = await maker.add("runs", {});
    const hand = await options("worker");
    const worker = new Worker(q, () => new Promise(() => undefined), {
      ...hand.options,
      concurrency: 1,
    });
    onTestFinished(() => worker.close({ timeout: 0 }));
    await new Promise((resolve) => worker.on("active", resolve));
    const waits = await maker.add("waits", {}, { delay: 3_600_000 });
    await queue.cancel(waits.id);
    const failed = ended(worker, "failed");
    await queue.cancel(id, "enough");
    await failed;
    for (const { name } of [boss, hand]) expect(await refusedTo(admin, name)).toEqual([]);
  });

  test("an admin with limits and dedup sets, tells and frees", async () => {
    const { admin, q, options } = await opened();
    const boss = await options("admin", "limits", "dedup");
    const queue = new Queue(q, boss.options);
    onTestFinished(() => queue.close());
    const producer = await options("producer");
    const maker = new Queue(q, producer.options);
    onTestFinished(() => maker.close());
    const { id } = await maker.add("x", {}, { deduplication: { id: "d", ttl: 3_600_000 } });
    await queue.setGlobalConcurrency(3);
    expect(await queue.getGlobalConcurrency()).toBe(3);
    await queue.removeGlobalConcurrency();
    await queue.setGlobalRateLimit(5, 1_000);
    expect(await queue.getGlobalRateLimit()).toMatchObject({ max: 5 });
    await queue.rateLimit(1_000);
    await queue.getRateLimitTtl();
    await queue.removeGlobalRateLimit();
    await queue.setMaxLength(9);
    await queue.setMaxLength(null);
    expect(await queue.getDeduplicationJobId("d")).toBe(id);
    expect(await queue.removeDeduplicationKey("d")).toBe(1);
    expect(await refusedTo(admin, boss.name)).toEqual([]);
  });

  test("an admin with jobs removes, retries, moves and takes the queue down", async () => {
    const { admin, q, options } = await opened();
    const boss = await options("admin", "jobs");
    const queue = new Queue(q, boss.options);
    onTestFinished(() => queue.close());
    const producer = await options("producer");
    const maker = new Queue(q, producer.options);
    onTestFinished(() => maker.close());
    for (const id of ["fails", "fails-2"]) await maker.add("fails", {}, { jobId: id });
    const hand = await options("worker");
    const worker = new Worker(q, () => Promise.reject(new Error("on purpose")), {
      ...hand.options,
      concurrency: 1,
    });
    await ended(worker, "failed", 2);
    await worker.close();
    const later = { delay: 3_600_000 };
    for (const id of ["a", "b"]) await maker.add("x", {}, { jobId: id, ...later });
    for (const id of ["c", "d"]) await maker.add("x", {}, { jobId: id, ...later, priority: 2 });
    await (await queue.getJob("fails"))?.retry();
    await queue.retryJobs({ count: 1 });
    await (await queue.getJob("a"))?.changeDelay(7_200_000);
    await (await queue.getJob("a"))?.changePriority({ priority: 3 });
    await (await queue.getJob("a"))?.promote();
    await (await queue.getJob("a"))?.changePriority({ priority: 0 });
    await (await queue.getJob("c"))?.promote();
    await queue.promoteJobs({ count: 1 });
    expect(await queue.remove("fails")).toBe(1);
    await queue.clean(0, 1, "delayed");
    await queue.clean(0, 1, "failed");
    await queue.drain(true);
    await maker.add("x", {});
    await queue.obliterate();
    expect(await admin.keys(`emq:{${q}}:v2:job:*`)).toEqual([]);
    expect(await refusedTo(admin, boss.name)).toEqual([]);
  });

  test("a worker with letters delivers them, an admin with redrive brings them back", async () => {
    const { admin, q, options, dead } = await opened();
    const producer = await options("producer");
    const maker = new Queue(q, producer.options);
    onTestFinished(() => maker.close());
    const [stands, gone] = await maker.addBulk([
      { name: "x", data: {} },
      { name: "x", data: {} },
    ]);
    const failing = (own: typeof producer.options): Worker => {
      const worker = new Worker(q, () => Promise.reject(new Error("on purpose")), {
        ...own,
        deadLetter: { queue: dead },
        stalledInterval: 100,
      });
      onTestFinished(() => worker.close());
      return worker;
    };
    const key = (of: string, unit: string): string => `emq:{${of}}:v2:${unit}`;
    // One that may not deliver says so, and the letters stay until another worker comes.
    const plain = await options("worker");
    const first = failing(plain.options);
    const said = new Promise((resolve) => first.on("error", resolve));
    while ((await admin.hlen(key(q, "outbox"))) < 2) await sleep(10);
    expect(await said).toMatchObject({ code: "NOPERM" });
    const putOff = (): Promise<number> =>
      admin.zcount(key(q, "outbox-due"), Date.now() + 10_000, "+inf");
    while ((await putOff()) < 2) await sleep(10);
    await first.close();
    // The while it was put off for is over now.
    for (const effect of await admin.hkeys(key(q, "outbox"))) {
      await admin.zadd(key(q, "outbox-due"), 0, effect);
    }
    expect(await admin.zcard(key(q, "outbox-due"))).toBe(2);
    const hand = await options("worker", "letters");
    const second = failing(hand.options);
    while ((await admin.hlen(key(q, "outbox"))) > 0) await sleep(10);
    await second.close();
    expect(await admin.llen(key(dead, "wait"))).toBe(2);
    // A job that still stands is retried, one that is gone is added anew.
    await admin.del(key(q, `job:${gone?.id}`));
    await admin.zrem(key(q, "failed"), `${gone?.id}`);
    const boss = await options("admin", "redrive");
    const queue = new Queue(dead, boss.options);
    onTestFinished(() => queue.close());
    expect(await queue.redrive()).toBe(2);
    const back = await admin.lrange(key(q, "wait"), 0, -1);
    expect(back.sort()).toEqual([stands?.id, gone?.id].sort());
    expect(await admin.keys(key(dead, "job:*"))).toEqual([]);
    for (const { name } of [hand, boss]) expect(await refusedTo(admin, name)).toEqual([]);
  });
});
