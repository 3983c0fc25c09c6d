import { Queue, QueueEvents, QueueEventsProducer, Worker } from "@echomq/core";
import { type Engine, startServer, uniqueQueue } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { adminOf, driverOf, makeUser, REFUSED, refusedTo } from "../support/acl-user.js";

const ENGINES: readonly Engine[] = ["redis", "valkey"];

describe.each(ENGINES)("what a role is given besides on %s", (engine) => {
  async function opened() {
    const server = await startServer({ engine });
    onTestFinished(() => server.stop());
    const { url } = server;
    const q = uniqueQueue("more");
    const options = async (role: string, ...extras: string[]) => {
      const argv = ["--queue", q, "--role", role, "--v1-prefix", "bull"];
      if (engine === "valkey") argv.push("--server", "7.2");
      if (extras.length > 0) argv.push("--with", ...extras);
      const user = await makeUser(url, ...argv, "--user", [role, ...extras].join("-"));
      const connection = await driverOf(user);
      return { name: user.name, options: { connection, v1Prefixes: ["bull"], retryTime: 0 } };
    };
    return { admin: adminOf(url), q, options };
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
});
