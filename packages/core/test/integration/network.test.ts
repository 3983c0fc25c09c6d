import { sharedServer, startProxy, startReplica, type TcpProxy } from "@echomq/testkit";
import { LIMITS } from "@echomq/wire";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Queue } from "../../src/index.js";
import { Bench, begunBy, type DriverName, ENGINES, makeDriver } from "../support/bench.js";
import { settles, until } from "../support/until.js";

const DRIVERS: readonly DriverName[] = ["ioredis", "node-redis"];
const KEEP = { removeOnComplete: false, removeOnFail: false } as const;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function idle(queue: Queue, completed: number): Promise<void> {
  await until("all are done", async () => (await queue.getCompletedCount()) === completed);
  await until("no lease is left", async () => (await queue.getActiveCount()) === 0);
  expect(await queue.getJobCounts()).toMatchObject({ waiting: 0, delayed: 0, failed: 0 });
  expect((await queue.doctor()).findings).toEqual([]);
}

describe.each(DRIVERS)("a network between %s and its server", (driver) => {
  /** A bench behind a proxy, and the same queue without one. */
  async function open(): Promise<{ proxy: TcpProxy; far: Bench; near: Bench }> {
    const { url } = await sharedServer(driver === "ioredis" ? "redis" : "valkey");
    const proxy = await startProxy({ port: Number(new URL(url).port) });
    onTestFinished(() => proxy.close());
    const made = await makeDriver(proxy.url, driver);
    onTestFinished(() => made.close("now"));
    const near = Bench.on(url);
    return { proxy, near, far: Bench.on(url, made, near.name) };
  }

  test.each(["reset", "close"] as const)(
    "that ends every connection again and again, by %s: each job is done, none is left",
    async (how) => {
      const { proxy, far, near } = await open();
      const queue = far.queue({ defaultJobOptions: KEEP });
      const ran = new Set<string>();
      const worker = far.worker(
        async ({ id }) => {
          await pause(1);
          ran.add(id);
        },
        { concurrency: 8, lockDuration: 1_000, stalledInterval: 300, maxStalledCount: 100 },
      );
      await worker.waitUntilReady();
      const adds: Promise<{ readonly id: string }>[] = [];
      for (let round = 1; round <= 8; round += 1) {
        for (let n = 0; n < 40; n += 1) adds.push(queue.add("x", n));
        await until("some are done", async () => (await near.completed()) >= round * 12);
        proxy.cut(how);
      }
      const ids = new Set((await Promise.all(adds)).map(({ id }) => id));
      await idle(near.queue(), ids.size);
      expect(ids.size).toBe(320);
      expect(ran).toEqual(ids);
      await settles("close", worker.close());
    },
  );

  test("that goes silent for longer than a blocking read, a call and a lease", async () => {
    const { proxy, far, near } = await open();
    const quick = { commandTimeout: 1_000, lockDuration: 1_500 };
    const lost: string[] = [];
    const reasons: unknown[] = [];
    const worker = far.worker(
      async ({ name }, { signal }) => {
        if (name !== "held") return "far";
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        reasons.push((signal.reason as { loss?: string }).loss);
        return "far";
      },
      { ...quick, concurrency: 2, maxStalledCount: 5 },
    );
    worker.on("lost", (job) => lost.push(job.name));
    const begun = begunBy(worker);
    const queue = near.queue({ defaultJobOptions: KEEP });
    const held = await queue.add("held", 0);
    await until("it runs", () => begun() === 1);
    const accepted = proxy.accepted;
    proxy.halfOpen();
    const other = near.worker(() => "near", { lockDuration: 1_000, stalledInterval: 200 });
    await until("it runs elsewhere", () => held.isCompleted());
    await until("its first run is over", () => reasons.length === 1);
    expect([reasons, lost]).toEqual([["expired"], ["held"]]);
    await other.close();
    // Nobody but the silent worker is left: it must come back by itself and hear of this one.
    const later = await queue.add("later", 1);
    await pause(LIMITS.blockMs + 2_500);
    expect(await later.getState()).toBe("waiting");
    proxy.pass();
    await until("it is done", () => later.isCompleted());
    expect(proxy.accepted).toBeGreaterThan(accepted);
    expect(await queue.getJob(held.id)).toMatchObject({ returnvalue: "near", attemptsMade: 1 });
    await idle(queue, 2);
    await settles("close", worker.close());
  });
});

describe.each(ENGINES)("behind an address of a %s server", (engine) => {
  test.each(DRIVERS)("%s follows it to a replica that was promoted", async (driver) => {
    const primary = await Bench.own(engine);
    const replica = await startReplica(primary.server);
    onTestFinished(() => replica.stop());
    const proxy = await startProxy({ port: primary.server.port });
    onTestFinished(() => proxy.close());
    const made = await makeDriver(proxy.url, driver);
    onTestFinished(() => made.close("now"));
    const bench = Bench.on(replica.url, made, primary.name);
    const queue = bench.queue({ defaultJobOptions: KEEP });
    const total = 300;
    await queue.addBulk(Array.from({ length: total }, (_, n) => ({ name: "x", data: n })));
    const ran = new Set<unknown>();
    const worker = bench.worker(
      async ({ data }) => {
        await pause(1);
        ran.add(data);
      },
      { concurrency: 4, lockDuration: 1_000, stalledInterval: 300, maxStalledCount: 100 },
    );
    await until("work has begun", () => ran.size > 30);
    await replica.inSync();
    await replica.promote();
    proxy.retarget({ port: replica.port });
    // Its connections stay open and answer READONLY: only new ones lead to the new primary.
    const { host, port } = replica.config;
    await primary.client.call("REPLICAOF", host, String(port));
    const late = await queue.add("x", "late");
    await idle(queue, total + 1);
    expect(ran.size).toBe(total + 1);
    expect(await late.getState()).toBe("completed");
    expect(await errorsOf(primary, "READONLY")).toBeGreaterThan(0);
    await settles("close", worker.close());
  });

  test.each(DRIVERS)("%s waits while the server loads its data", async (driver) => {
    const own = await Bench.own(engine);
    await own.client.config("SET", "loading-process-events-interval-bytes", "1024");
    const made = await makeDriver(own.url, driver);
    onTestFinished(() => made.close("now"));
    const bench = Bench.on(own.url, made, own.name);
    const queue = bench.queue({ defaultJobOptions: KEEP });
    const total = 1_000;
    await queue.addBulk(Array.from({ length: total }, (_, n) => ({ name: "x", data: n })));
    const worker = bench.worker(() => pause(2), { concurrency: 10 });
    await until("work has begun", async () => (await own.completed()) > 50);
    // Open connections are told LOADING meanwhile, for more than a second.
    await own.client.config("SET", "key-load-delay", "1000");
    const reload = own.client.call("DEBUG", "RELOAD");
    const late = Promise.all([1, 2, 3].map((data) => queue.add("x", data)));
    expect(await reload).toBe("OK");
    expect(await late).toHaveLength(3);
    await idle(queue, total + 3);
    expect(await errorsOf(own, "LOADING")).toBeGreaterThan(0);
    await settles("close", worker.close());
  });
});

/** How many commands the server has refused with this word. */
async function errorsOf(bench: Bench, word: string): Promise<number> {
  const stats = await bench.client.info("errorstats");
  return Number(new RegExp(`errorstat_${word}:count=(\\d+)`).exec(stats)?.[1] ?? 0);
}

test("adding nothing asks nothing of a server that is gone", async () => {
  const bench = await Bench.own();
  const queue = bench.queue({ retryTime: 0 });
  await queue.getJobCounts();
  const left: unknown[] = [];
  const note = (error: unknown): void => void left.push(error);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  bench.client.disconnect();
  await bench.server.stop();
  expect(await queue.addBulk([])).toEqual([]);
  await queue.close();
  await pause(0);
  expect(left).toEqual([]);
});
