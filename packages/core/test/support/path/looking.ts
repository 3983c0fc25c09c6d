import { expect } from "vitest";
import { until } from "../until.js";
import type { PathCase } from "./case.js";

/** Cases of looking, mending, telling and limiting. */
export const LOOKING: readonly PathCase[] = [
  {
    title: "events are told in order, custom ones among them",
    scripts: ["tail", "publish"],
    run: async ({ bench }) => {
      const queue = bench.queue();
      const events = bench.events<{ shipped: { n: number } }>();
      const told: string[] = [];
      events.on("completed", ({ jobId }) => told.push(`completed ${jobId}`));
      events.on("shipped", ({ n }) => told.push(`shipped ${n}`));
      await events.waitUntilReady();
      const worker = bench.worker(({ data }) => data);
      expect(await queue.addAndWait("x", 5, { jobId: "a" }, { events, timeout: 20_000 })).toBe(5);
      await bench
        .producer<{ shipped: { n: number } }>()
        .publishEvent({ eventName: "shipped", n: 1 });
      await until("both are told", () => told.length === 2);
      expect(told).toEqual(["completed a", "shipped 1"]);
      await worker.close();
    },
  },
  {
    title: "workers are listed and what they ended is counted",
    scripts: ["heartbeat", "workers", "count", "metrics"],
    run: async ({ bench }) => {
      const queue = bench.queue();
      const options = { name: "one", metrics: { maxDataPoints: 5 } };
      const worker = bench.worker(() => undefined, options);
      await queue.add("x", 0);
      await until("it is done", async () => (await queue.getCompletedCount()) === 1);
      await until("it is listed", async () => (await queue.getWorkersCount()) === 1);
      expect(await queue.getWorkers()).toMatchObject([{ name: "one", pid: process.pid }]);
      await worker.close();
      expect(await queue.getWorkersCount()).toBe(0);
      expect((await queue.getMetrics("completed")).meta.count).toBe(1);
    },
  },
  {
    title: "the doctor finds what is broken and mends it",
    scripts: ["inspect", "mend", "dedups", "rescue", "unlock", "expired", "promote", "bury"],
    run: async ({ bench }) => {
      const queue = bench.queue();
      const job = await queue.add("x", 0);
      expect(await queue.doctor()).toMatchObject({ ok: true, looked: 2 });
      await bench.client
        .multi()
        .del(bench.key(`job:${job.id}`), bench.key("marker"))
        .hset(bench.key("dedup:k"), "job", "none")
        .hset(bench.key("job:lost"), { name: "x", data: "1", timestamp: "1" })
        .exec();
      await queue.add("y", 0);
      await bench.client.del(bench.key("marker"));
      const kinds = ({ findings }: Awaited<ReturnType<typeof queue.doctor>>): string[] =>
        findings.map(({ kind }) => kind).sort();
      const report = await queue.doctor({ fix: true });
      expect(kinds(report)).toEqual(["marker-empty", "missing-hash", "orphan-hash", "stray-dedup"]);
      expect(report.ok).toBe(true);
      await bench.client
        .multi()
        .hset(bench.key("dedup:owes"), { job: "none", next: "kept" })
        .hset(bench.key("job:kept"), { name: "x", data: "1", timestamp: "1", deid: "owes" })
        .hset(bench.key("job:alone"), { name: "x", data: "1", timestamp: "1", deid: "none" })
        .zadd(bench.key("held"), 1, "kept", 2, "alone")
        .exec();
      expect(kinds(await queue.doctor({ fix: true }))).toEqual(["held-alone", "owing-dedup"]);
      expect(await queue.doctor()).toMatchObject({ ok: true, findings: [] });
      expect(await queue.count()).toBe(3);
    },
  },
  {
    title: "a limit of a queue holds, and a pause",
    scripts: ["limit", "limits", "pause"],
    run: async ({ bench }) => {
      const queue = bench.queue();
      await queue.setGlobalRateLimit(2, 600_000);
      expect(await queue.getGlobalRateLimit()).toEqual({ max: 2, duration: 600_000 });
      await queue.addBulk([1, 2, 3].map((data) => ({ name: "x", data })));
      const worker = bench.worker(() => undefined, { concurrency: 3 });
      await until("two ran", async () => (await queue.getCompletedCount()) === 2);
      expect(await queue.getRateLimitTtl()).toBeGreaterThan(0);
      expect(await queue.count()).toBe(1);
      await queue.pause();
      expect(await queue.isPaused()).toBe(true);
      await queue.removeGlobalRateLimit();
      await queue.rateLimit(0);
      expect(await queue.count()).toBe(1);
      await queue.resume();
      await until("the last ran", async () => (await queue.getCompletedCount()) === 3);
      await worker.close();
    },
  },
  {
    title: "a job that fails for good leaves a letter in another queue",
    scripts: ["finish", "owed", "ack", "add"],
    run: async ({ bench }) => {
      const dead = `${bench.name}-dead`;
      const worker = bench.worker(
        () => {
          throw new Error("no luck");
        },
        { deadLetter: { queue: dead } },
      );
      await bench.queue().add("mail", { to: "x" }, { jobId: "a" });
      const letters = bench.queue({}, dead);
      await until("it came", async () => (await letters.count()) === 1);
      expect(await letters.getJob(`${bench.name}:a`)).toMatchObject({ data: { to: "x" } });
      await until("it was struck off", async () => {
        return (await bench.client.exists(bench.key("outbox"))) === 0;
      });
      await worker.close();
    },
  },
];
