import { type Engine, sharedServer } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JobOptions } from "../../src/index.js";
import { Bench, gate, makeDriver } from "../support/bench.js";
import { Recorder } from "../support/path/recorder.js";
import { type Remote, startRemote } from "../support/remote.js";
import { until } from "../support/until.js";

const HOUR = 3_600_000;
/** Far more than any test takes, far less than a clock is wrong. */
const SLACK = 600_000;

const CASES: readonly [string, Engine, number][] = [
  ["an hour ahead", "redis", HOUR],
  ["an hour behind", "valkey", -HOUR],
];

type Added = { readonly id: string; readonly timestamp: number };

describe.each(CASES)(
  "a process whose clock is %s, and is set while it runs",
  (_, engine, shift) => {
    async function open(): Promise<{ bench: Bench; remote: Remote; now: () => Promise<number> }> {
      const bench = Bench.on((await sharedServer(engine)).url);
      const remote = await startRemote("skewed", { url: bench.url, name: bench.name, shift });
      const now = async (): Promise<number> => {
        const [seconds, micros] = await bench.client.time();
        return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
      };
      expect(Math.abs((await remote.call<number>("now")) - (await now()) - shift)).toBeLessThan(
        SLACK,
      );
      return { bench, remote, now };
    }

    /** Does it with the wrong clock, and again after the clock was set far the other way. */
    async function twice(remote: Remote, work: (round: number) => Promise<void>): Promise<void> {
      await work(1);
      await remote.call("step", -2 * shift);
      await work(2);
    }

    const near = async (time: number, now: () => Promise<number>): Promise<void> => {
      expect(Math.abs((await now()) - time)).toBeLessThan(SLACK);
    };

    test("adds as a right one does: timestamps, delays, moments, throttles, node ids", async () => {
      const { bench, remote, now } = await open();
      const queue = bench.queue();
      const add = (opts: JobOptions): Promise<Added> => remote.call("add", "x", 1, opts);
      const due = async (id: string): Promise<number> =>
        Math.floor(Number(await bench.client.zscore(bench.key("delayed"), id)));
      await twice(remote, async (round) => {
        const plain = await add({});
        await near(plain.timestamp, now);
        const late = await add({ delay: HOUR });
        expect(await due(late.id)).toBe(late.timestamp + HOUR);
        const moment = (await now()) + 2 * HOUR;
        expect(await due((await add({ runAt: moment })).id)).toBe(moment);
        const past = await add({ runAt: (await now()) - 1_000 });
        expect(await queue.getJobState(past.id)).toBe("waiting");

        const deduplication = { id: `throttle-${round}`, ttl: HOUR / 2 };
        const first = await add({ deduplication });
        expect((await add({ deduplication })).id).toBe(first.id);
        const left = await bench.client.pttl(bench.key(`dedup:throttle-${round}`));
        expect(left).toBeGreaterThan(HOUR / 2 - SLACK);
        expect(left).toBeLessThanOrEqual(HOUR / 2);

        const nodes = Object.values(await bench.client.hgetall("{emq}:nodes"));
        for (const node of nodes) await near(Number(node.split(":", 1)[0]), now);
      });
      const soon = await add({ delay: 150 });
      const worker = bench.worker(() => undefined, { concurrency: 5 });
      await until("it ran", async () => (await queue.getJobState(soon.id)) === "completed");
      const ran = await queue.getJob(soon.id);
      expect(ran?.processedOn).toBeGreaterThanOrEqual(soon.timestamp + 150);
      expect((await queue.getDelayed()).length).toBe(4);
      await worker.close();
    });

    test("works as a right one does: times, delays, backoffs, ttl, retention, rate", async () => {
      const { bench, remote, now } = await open();
      const queue = bench.queue();
      // Ended half an hour ago, and two hours ago: what is kept for an hour is told by the server's clock.
      for (const [id, ago] of Object.entries({ young: HOUR / 2, old: 2 * HOUR })) {
        await bench.client.hset(bench.key(`job:${id}`), { name: id, data: "1", timestamp: "1" });
        await bench.client.zadd(bench.key("completed"), (await now()) - ago, id);
      }
      await queue.add("x", 0, { jobId: "first" });
      await remote.call("work", { removeOnComplete: { age: HOUR / 1_000 } });
      await twice(remote, async (round) => {
        const job = await queue.add("x", 0, { delay: 100 });
        await until("it ran", () => job.isCompleted());
        const done = await queue.getJob(job.id);
        expect(done?.processedOn).toBeGreaterThanOrEqual(job.timestamp + 100);
        await near(done?.processedOn ?? 0, now);
        await near(done?.finishedOn ?? 0, now);
        expect(await queue.getJobState("young")).toBe("completed");
        await until(
          "the old one is gone",
          async () => (await queue.getJobState("old")) === "unknown",
        );

        const fails = await queue.add("fails", 0, { attempts: 2, backoff: HOUR });
        await until("it failed once", () => fails.isDelayed());
        await near(Number(await bench.client.zscore(bench.key("delayed"), fails.id)) - HOUR, now);
        const moves = await queue.add("moves", HOUR);
        await until("it moved itself", () => moves.isDelayed());
        await near(Number(await bench.client.zscore(bench.key("delayed"), moves.id)) - HOUR, now);

        const lives = await queue.add("x", 0, { ttl: HOUR / 2 });
        await until("it ran in time", () => lives.isCompleted());
        await queue.pause();
        const dies = await queue.add("x", 0, { ttl: 20 });
        await until("its time is over", async () => (await now()) > dies.timestamp + 20);
        await queue.resume();
        await until("it was too late", () => dies.isFailed());

        // One window for both rounds: lifting the rate does not end it.
        await queue.setGlobalRateLimit(round, HOUR / 2);
        const [one, two] = await queue.addBulk([1, 2].map((data) => ({ name: "x", data })));
        await until("one starts", async () => (await one?.isCompleted()) ?? false);
        await remote.call("step", shift);
        await remote.call("step", -shift);
        expect(await two?.getState()).toBe("waiting");
        const left = await bench.client.pttl(bench.key("limiter"));
        expect(left).toBeGreaterThan(HOUR / 2 - SLACK);
        await queue.removeGlobalRateLimit();
        await queue.rateLimit(0);
        await until("the other one starts", async () => (await two?.isCompleted()) ?? false);
        expect(await queue.getWorkersCount()).toBe(1);
        expect(await remote.call("workers")).toBe(1);
      });
    });

    test("keeps its leases, through steps of its clock, while others sweep", async () => {
      const { bench, remote } = await open();
      const seen = new Recorder();
      const driver = await makeDriver(bench.url);
      onTestFinished(() => driver.close());
      const right = Bench.on(bench.url, seen.watch(driver), bench.name);
      const queue = bench.queue();
      const stalled: string[] = [];
      const sweeper = right.worker(() => undefined, { lockDuration: 100, stalledInterval: 100 });
      sweeper.on("stalled", (id) => stalled.push(id));
      await sweeper.waitUntilReady();
      sweeper.pause();
      const job = await queue.add("held", 0);
      await remote.call("work", { lockDuration: 1_500, stalledInterval: HOUR });
      await until("it runs", () => remote.messages.includes(`begun ${job.id}`));
      const score = async (): Promise<number> =>
        -Number(await bench.client.zscore(bench.key("active"), job.id));
      await twice(remote, async () => {
        const before = await score();
        for (let renewals = 0, last = before; renewals < 2; renewals += 1) {
          const now = last;
          last = await until("it is renewed", async () => ((await score()) > now ? score() : 0));
        }
      });
      expect(seen.scripts).toContain("expired");
      await remote.call("release", job.id);
      await until("it is done", () => job.isCompleted());
      expect(await queue.getJob(job.id)).toMatchObject({ attemptsStarted: 1, stalledCounter: 0 });
      expect(stalled).toEqual([]);
      expect(remote.messages).not.toContain(`lost ${job.id}`);
    });

    test("steals no lease of others, and brings back what a dead one held", async () => {
      const { bench, remote } = await open();
      const queue = bench.queue();
      const door = gate();
      let runs = 0;
      const lost: string[] = [];
      const worker = bench.worker(
        async () => {
          runs += 1;
          await door.opened;
        },
        { stalledInterval: HOUR },
      );
      worker.on("lost", (job) => lost.push(job.id));
      const job = await queue.add("x", 0);
      await until("it runs", () => runs === 1);
      await remote.call("work", { lockDuration: 100, stalledInterval: 100 });
      await remote.call("pause");
      await twice(remote, async (round) => {
        const id = `dead-${round}`;
        await bench.client
          .multi()
          .hset(bench.key(`job:${id}`), { name: "x", data: "1", timestamp: "1" })
          .hset(bench.key("owners"), id, "1:dead!")
          .zadd(bench.key("active"), -1, id)
          .exec();
        await until("it was swept", () => remote.messages.includes(`stalled ${id}`));
      });
      expect(remote.messages).not.toContain(`stalled ${job.id}`);
      door.open();
      await until("all are done", async () => (await bench.completed()) === 3);
      expect([runs, lost]).toEqual([3, []]);
      expect(await queue.getJob(job.id)).toMatchObject({ attemptsStarted: 1, stalledCounter: 0 });
    });
  },
);
