import { describe, expect, test } from "vitest";
import type { Bench } from "./bench.js";
import { until } from "./until.js";

const IDS = [
  "meta",
  "wait",
  "completed",
  "__proto__",
  "constructor",
  "a:b:c",
  "007",
  "👩‍🚀",
  "x".repeat(512),
  "é".repeat(256),
  "v2:job:5",
  " lead and trail ",
  "*?[a]",
];

/** The path every server, driver and mode must walk: at least one case per script and per refusal. */
export function corePath(title: string, open: () => Promise<Bench>): void {
  describe(title, () => {
    test("jobs run in the order they were added, whatever adds them", async () => {
      const bench = await open();
      const queue = bench.queue();
      const one = await queue.add("one", { a: 1 });
      const bulk = await queue.addBulk([2, 3, 4].map((n) => ({ name: `n${n}`, data: n })));
      const tick = await Promise.all([queue.add("x", "p"), queue.add("y", "q")]);
      const front = await queue.add("front", null, { lifo: true });
      const order: [string, unknown, string][] = [];
      const worker = bench.worker((job) => {
        order.push([job.id, job.data, job.name]);
        return { done: job.name };
      });
      await until("all are done", async () => (await queue.getJobCounts()).completed === 7);
      expect(order).toEqual([
        [front.id, null, "front"],
        [one.id, { a: 1 }, "one"],
        ...bulk.map(({ id, data, name }) => [id, data, name]),
        [tick[0].id, "p", "x"],
        [tick[1].id, "q", "y"],
      ]);
      const read = await queue.getJob(one.id);
      expect(read).toMatchObject({
        id: one.id,
        name: "one",
        data: { a: 1 },
        returnvalue: { done: "one" },
        attemptsMade: 1,
        attemptsStarted: 1,
        stalledCounter: 0,
        timestamp: one.timestamp,
      });
      expect(read?.finishedOn).toBeGreaterThanOrEqual(read?.processedOn ?? Number.NaN);
      expect(read?.processedOn).toBeGreaterThanOrEqual(one.timestamp);
      expect(await read?.getState()).toBe("completed");
      await worker.close();
    });

    test("priorities run after what has none, lower numbers first, equal ones in order", async () => {
      const bench = await open();
      const queue = bench.queue();
      const priorities = [5, 1, 2_097_151, 5, 0, 1, 2];
      await queue.addBulk(
        priorities.map((priority, n) => ({ name: "x", data: n, opts: { priority } })),
      );
      expect(await queue.getJobCounts()).toMatchObject({ waiting: 1, prioritized: 6 });
      const order: unknown[] = [];
      bench.worker((job) => void order.push(job.data));
      await until("all are done", () => order.length === priorities.length);
      expect(order).toEqual([4, 1, 5, 6, 0, 3, 2]);
    });

    test("a delayed job waits and then runs, also with a priority", async () => {
      const bench = await open();
      const queue = bench.queue();
      const [soon, late] = await queue.addBulk([
        { name: "x", data: 1, opts: { delay: 150, priority: 3 } },
        { name: "x", data: 2, opts: { delay: 3_600_000 } },
      ]);
      expect(await soon?.getState()).toBe("delayed");
      const worker = bench.worker((job) => job.data);
      await until("it ran", async () => (await soon?.getState()) === "completed");
      const job = await queue.getJob(soon?.id ?? "");
      expect(job?.processedOn).toBeGreaterThanOrEqual((soon?.timestamp ?? 0) + 150);
      expect(await late?.getState()).toBe("delayed");
      expect(await queue.getJobCounts()).toMatchObject({
        delayed: 1,
        completed: 1,
        prioritized: 0,
      });
      await worker.close();
    });

    test("a failing job is tried again after its backoff and then stays failed", async () => {
      const bench = await open();
      const queue = bench.queue();
      const job = await queue.add(
        "x",
        {},
        { attempts: 3, backoff: { type: "exponential", delay: 20 } },
      );
      const plain = await queue.add("y", {}, { attempts: 2 });
      const told: string[] = [];
      const worker = bench.worker((one) => {
        throw new Error(`${one.name} ${one.attemptsMade}`);
      });
      worker.on("failed", (one, error, retry) =>
        told.push(`${one.name} ${(error as Error).message} ${retry}`),
      );
      await until("both are failed", async () => (await queue.getJobCounts()).failed === 2);
      expect(await queue.getJob(job.id)).toMatchObject({
        attemptsMade: 3,
        attemptsStarted: 3,
        failedReason: "x 2",
        returnvalue: undefined,
        delay: 40,
      });
      const failed = await queue.getJob(plain.id);
      expect(failed?.stacktrace.length).toBe(2);
      expect(failed?.stacktrace[0]).toContain("y 0");
      expect(failed?.finishedOn).toBeGreaterThanOrEqual(plain.timestamp);
      await until("all is told", () => told.length === 5);
      expect(told.filter((line) => line.startsWith("x"))).toEqual([
        "x x 0 true",
        "x x 1 true",
        "x x 2 false",
      ]);
      await worker.close();
    });

    test("retention keeps what it says", async () => {
      const bench = await open();
      const queue = bench.queue();
      const add = (name: string, keep: boolean | number | { count?: number; age?: number }) =>
        queue.add(name, {}, { removeOnComplete: keep, removeOnFail: keep });
      const worker = bench.worker(
        (job) => {
          if (job.name === "bad") throw new Error("bad");
        },
        { autorun: false },
      );
      for (const name of ["ok", "bad"]) for (const keep of [true, 0]) await add(name, keep);
      const kept = [await add("ok", false), await add("bad", false)];
      void worker.run();
      const counts = async () => {
        const { completed, failed, waiting, active } = await queue.getJobCounts();
        return [completed, failed, waiting + active];
      };
      await until("all ran", async () => (await counts())[2] === 0);
      expect(await counts()).toEqual([1, 1, 0]);
      for (const job of kept) expect(await job.getState()).toMatch(/completed|failed/);
      const some: Awaited<ReturnType<typeof add>>[] = [];
      for (let n = 0; n < 5; n += 1) some.push(await add("ok", { count: 2 }), await add("bad", 2));
      await until("all ran", async () => (await counts())[2] === 0);
      expect(await counts()).toEqual([2, 2, 0]);
      await until("what is gone is gone", async () => (await some[0]?.getState()) === "unknown");
      await until("no key is left of it", async () => {
        return (await bench.client.exists(bench.key(`job:${some[0]?.id}`))) === 0;
      });
      await worker.close();
    });

    test.each(IDS)("%j is an ordinary id", async (jobId) => {
      const bench = await open();
      const queue = bench.queue();
      const job = await queue.add("x", { n: 1 }, { jobId });
      expect(job.id).toBe(jobId);
      const again = await queue.add("other", { n: 2 }, { jobId, delay: 5_000 });
      expect(again).toMatchObject({ id: jobId, name: "x", data: { n: 1 } });
      expect(await job.getState()).toBe("waiting");
      expect(await queue.getJobCounts()).toMatchObject({ waiting: 1, delayed: 0 });
      const ran: string[] = [];
      const worker = bench.worker((one) => void ran.push(one.id));
      await until("it is done", async () => (await job.getState()) === "completed");
      expect(ran).toEqual([jobId]);
      await worker.close();
    });

    test("one id twice in one batch is one job; a finished one stays the job of its id", async () => {
      const bench = await open();
      const queue = bench.queue();
      const twins = await queue.addBulk([
        { name: "a", data: 1, opts: { jobId: "twin" } },
        { name: "b", data: 2, opts: { jobId: "twin" } },
        { name: "c", data: 3 },
      ]);
      expect(twins.map(({ name }) => name)).toEqual(["a", "a", "c"]);
      bench.worker(() => undefined);
      await until("both are done", async () => (await queue.getJobCounts()).completed === 2);
      expect(await (await queue.add("d", 4, { jobId: "twin" })).getState()).toBe("completed");
    });

    test("a paused queue keeps its jobs and wakes its workers when it is resumed", async () => {
      const bench = await open();
      const queue = bench.queue();
      const ran: unknown[] = [];
      const worker = bench.worker((job) => void ran.push(job.data));
      await worker.waitUntilReady();
      await queue.pause();
      expect(await queue.isPaused()).toBe(true);
      await queue.addBulk([1, 2, 3].map((n) => ({ name: "x", data: n })));
      const other = bench.worker((job) => void ran.push(job.data), { concurrency: 2 });
      await other.waitUntilReady();
      expect(await queue.getJobCounts()).toMatchObject({ waiting: 3 });
      expect(ran).toEqual([]);
      await queue.resume();
      expect(await queue.isPaused()).toBe(false);
      await until("all ran", () => ran.length === 3);
    });

    test("a run whose lease was taken writes nothing and is told why", async () => {
      const bench = await open();
      const queue = bench.queue();
      const lost: unknown[] = [];
      const reasons: unknown[] = [];
      let attempts = 0;
      const worker = bench.worker(
        async (_job, { signal }) => {
          attempts += 1;
          if (attempts > 1) return "second";
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          reasons.push([signal.reason.name, signal.reason.code, signal.reason.loss]);
          return "first";
        },
        { lockDuration: 1_600, stalledInterval: 60_000 },
      );
      worker.on("lost", (job, error) => lost.push([job.id, error.name]));
      const job = await queue.add("x", {});
      await until("it runs", () => attempts === 1);
      const score = await bench.client.zscore(bench.key("active"), job.id);
      await bench.client.hset(bench.key("owners"), job.id, "1:thief!");
      await until("it is told", () => reasons.length === 1);
      expect(reasons).toEqual([["LeaseLostError", "LEASE_LOST", "stolen"]]);
      expect(lost).toEqual([[job.id, "LeaseLostError"]]);
      expect(await bench.client.hget(bench.key("owners"), job.id)).toBe("1:thief!");
      expect(Number(await bench.client.zscore(bench.key("active"), job.id))).toBeLessThanOrEqual(
        Number(score),
      );
      expect(await queue.getJob(job.id)).toMatchObject({ attemptsMade: 0, returnvalue: undefined });
      await worker.close();
    });

    test("a lease that ended is recovered at the head of the line", async () => {
      const bench = await open();
      const queue = bench.queue();
      const jobs = await queue.addBulk([1, 2, 3].map((n) => ({ name: "x", data: n })));
      const id = jobs[1]?.id ?? "";
      await bench.client
        .multi()
        .lrem(bench.key("wait"), 0, id)
        .hset(bench.key("owners"), id, "1:dead!")
        .zadd(bench.key("active"), -1, id)
        .exec();
      const order: unknown[] = [];
      const stalled: string[] = [];
      const sweeper = bench.worker(() => undefined, { lockDuration: 200, stalledInterval: 150 });
      sweeper.pause();
      sweeper.on("stalled", (one) => stalled.push(one));
      await until("it is back", () => stalled.length === 1);
      bench.worker((job) => void order.push(job.data));
      await until("all ran", () => order.length === 3);
      expect(order).toEqual([2, 1, 3]);
    });
  });
}
