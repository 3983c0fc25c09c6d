import { sharedServer } from "@echomq/testkit";
import { describe, expect, expectTypeOf, test } from "vitest";
import { DelayedError, type Job, type Queue, UnrecoverableError } from "../../src/index.js";
import {
  createFakeClock,
  type Drained,
  DrainLimitError,
  drainQueue,
  type FakeClock,
} from "../../src/testing/index.js";
import { Bench } from "../support/bench.js";
import { lanesOpen } from "../support/connections.js";
import { refusal, until } from "../support/until.js";

const HOUR = 3_600_000;
const DAY = 86_400_000;

type Kinds = {
  mail: { data: { to: string }; result: { sent: boolean } };
  report: { data: number; result: string };
};

async function open(): Promise<{ readonly bench: Bench; readonly clock: FakeClock }> {
  const { url } = await sharedServer("redis");
  const clock = createFakeClock();
  return { bench: Bench.on(url, clock.connection(url)), clock };
}

describe("drainQueue", () => {
  test("works what is in line and due, in order, and tells what happened", async () => {
    const { bench, clock } = await open();
    const queue = bench.queue<Kinds>();
    await queue.add("report", 3, { priority: 1 });
    await queue.add("mail", { to: "ann" });
    const late = await queue.add("mail", { to: "bob" }, { delay: HOUR });
    await queue.add("report", 1, { delay: 5 });
    await clock.advance(5);
    const drained = await drainQueue(queue, async (job) => {
      if (job.name === "mail") return { sent: job.data.to === "ann" };
      if (job.data === 3) throw new TypeError("no such report");
      return new Date(0).toISOString();
    });
    expect(drained).toEqual({
      completed: [
        { id: expect.any(String), name: "mail", data: { to: "ann" }, result: { sent: true } },
        { id: expect.any(String), name: "report", data: 1, result: "1970-01-01T00:00:00.000Z" },
      ],
      failed: [
        {
          id: expect.any(String),
          name: "report",
          data: 3,
          reason: "no such report",
          error: new TypeError("no such report"),
          attempts: 1,
        },
      ],
      retried: [],
      runs: 3,
      advanced: 0,
      counts: expect.objectContaining({
        waiting: 0,
        prioritized: 0,
        delayed: 1,
        active: 0,
        completed: 2,
        failed: 1,
      }),
    });
    expect(await late.getState()).toBe("delayed");
  });

  test("a queue that is empty, or not there, is drained at once", async () => {
    const { bench } = await open();
    const none = { completed: [], failed: [], retried: [], runs: 0, advanced: 0 };
    expect(await drainQueue(bench.queue(), () => 1)).toMatchObject(none);
    const { url } = await sharedServer("redis");
    const address = { name: `${bench.name}-2`, connection: url };
    expect(await drainQueue(address, () => 1)).toMatchObject(none);
  });

  test("by name and connection it is the same", async () => {
    const { bench, clock } = await open();
    await bench.queue().add("x", 1, { delay: DAY });
    const { url } = await sharedServer("redis");
    const address = { name: bench.name, connection: clock.connection(url) };
    const { completed } = await drainQueue(address, (job) => job.name, { delayed: true });
    expect(completed).toMatchObject([{ name: "x", data: 1, result: "x" }]);
  });

  test("jobs that jobs add are worked too", async () => {
    const { bench } = await open();
    const queue = bench.queue<{ step: { data: number; result: number } }>();
    await queue.add("step", 5);
    const { completed } = await drainQueue(queue, async (job) => {
      if (job.data > 0) await queue.add("step", job.data - 1);
      return job.data;
    });
    expect(completed.map(({ result }) => result)).toEqual([5, 4, 3, 2, 1, 0]);
  });

  test("with `delayed` the clock goes from one due time to the next", async () => {
    const { bench, clock } = await open();
    const queue = bench.queue();
    const start = clock.now();
    await queue.add("week", 1, { delay: 7 * DAY });
    await queue.add("day", 1, { delay: DAY });
    await queue.add("now", 1);
    const at: [string, number][] = [];
    const drained = await drainQueue(
      queue,
      (job) => {
        at.push([job.name, clock.now() - start]);
      },
      { delayed: true },
    );
    expect(at).toEqual([
      ["now", 0],
      ["day", DAY],
      ["week", 7 * DAY],
    ]);
    expect(drained).toMatchObject({ advanced: 7 * DAY, runs: 3 });
    expect(clock.now() - start).toBe(7 * DAY);
  });

  test("retries are followed through their backoff, and told apart from the end", async () => {
    const { bench, clock } = await open();
    const queue = bench.queue();
    const start = clock.now();
    const { id } = await queue.add("x", 1, {
      attempts: 4,
      backoff: { type: "exponential", delay: HOUR },
    });
    const without = await drainQueue(queue, () => {
      throw new Error("first");
    });
    expect(without).toMatchObject({ runs: 1, failed: [], retried: [{ reason: "first" }] });
    const drained = await drainQueue(
      queue,
      (job) => {
        if (job.attemptsMade < 3) throw new Error(`attempt ${job.attemptsMade + 1}`);
        return "done";
      },
      { delayed: true },
    );
    expect(drained.retried).toMatchObject([
      { id, reason: "attempt 2", attempts: 2, error: new Error("attempt 2") },
      { id, reason: "attempt 3", attempts: 3 },
    ]);
    expect(drained.completed).toMatchObject([{ id, result: "done" }]);
    expect(clock.now() - start).toBe(HOUR + 2 * HOUR + 4 * HOUR);
  });

  test("a job that puts itself off comes back, and a strategy of one's own is asked", async () => {
    const { bench } = await open();
    const queue = bench.queue<{ x: { data: number; result: number } }>();
    await queue.add("x", 0);
    await queue.add("x", 10, { attempts: 2, backoff: { type: "mine" } });
    const drained = await drainQueue(
      queue,
      async (job) => {
        if (job.data === 10) throw new Error("ten");
        if (job.data === 3) return job.data;
        await job.updateData(job.data + 1);
        throw new DelayedError(DAY);
      },
      { delayed: true, settings: { backoffStrategy: () => HOUR } },
    );
    expect(drained).toMatchObject({
      completed: [{ data: 3, result: 3 }],
      failed: [{ data: 10, attempts: 2 }],
      retried: [{ data: 10, attempts: 1 }],
      runs: 6,
      advanced: 3 * DAY,
    });
  });

  test("an endless queue ends with a typed error that tells what had happened", async () => {
    const { bench } = await open();
    const queue = bench.queue<{ ping: { data: number; result: number } }>();
    await queue.add("ping", 1);
    const endless = async (job: Job<number>): Promise<number> => {
      await queue.add("ping", job.data + 1);
      return job.data;
    };
    const error = await refusal(drainQueue(queue, endless, { limit: 7 }));
    expect(error).toBeInstanceOf(DrainLimitError);
    expect(error).toMatchObject({ code: "DRAIN_LIMIT", name: "DrainLimitError" });
    const { drained } = error as DrainLimitError;
    expect(drained).toMatchObject({ runs: 7, counts: { waiting: 1, active: 0, completed: 7 } });
    expect(drained.completed.map(({ result }) => result)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    await queue.drain();

    // Endless in time, where the clock goes on for ever.
    await queue.add("ping", 1);
    const put = async (): Promise<never> => {
      throw new DelayedError(DAY);
    };
    const late = await refusal(drainQueue(queue, put, { delayed: true, limit: 3 }));
    expect(late).toMatchObject({ code: "DRAIN_LIMIT", drained: { runs: 3, advanced: 2 * DAY } });
  });

  test("a queue that ends with its last run allowed is no error", async () => {
    const { bench } = await open();
    const queue = bench.queue();
    await queue.addBulk([1, 2, 3].map((data) => ({ name: "x", data })));
    expect((await drainQueue(queue, () => 1, { limit: 3 })).runs).toBe(3);
    await queue.addBulk([1, 2, 3].map((data) => ({ name: "x", data })));
    expect(await refusal(drainQueue(queue, () => 1, { limit: 2, concurrency: 2 }))).toMatchObject({
      drained: { runs: 2 },
    });
  });

  test("a paused queue and one at its limits keep their jobs; time opens a rate", async () => {
    const { bench } = await open();
    const queue = bench.queue();
    await queue.addBulk([1, 2, 3, 4, 5].map((data) => ({ name: "x", data })));
    await queue.pause();
    expect(await drainQueue(queue, () => 1, { delayed: true })).toMatchObject({
      runs: 0,
      advanced: 0,
      counts: { waiting: 5 },
    });
    await queue.resume();
    await queue.setGlobalRateLimit(2, HOUR);
    expect(await drainQueue(queue, () => 1)).toMatchObject({ runs: 2, counts: { waiting: 3 } });
    const moved = await drainQueue(queue, () => 1, { delayed: true });
    expect(moved).toMatchObject({ runs: 3, counts: { waiting: 0 } });
    expect(moved.advanced).toBeGreaterThan(HOUR);
    await queue.removeGlobalRateLimit();

    await queue.add("x", 1);
    await queue.rateLimit(DAY);
    expect(await drainQueue(queue, () => 1)).toMatchObject({ runs: 0 });
    expect(await drainQueue(queue, () => 1, { delayed: true })).toMatchObject({ runs: 1 });
  });

  test("a rate that only the drain's worker knows holds too", async () => {
    const { bench } = await open();
    const queue = bench.queue();
    await queue.addBulk([1, 2, 3].map((data) => ({ name: "x", data })));
    const limiter = { max: 1, duration: HOUR };
    expect(await drainQueue(queue, () => 1, { limiter })).toMatchObject({ runs: 1 });
    expect(await drainQueue(queue, () => 1, { limiter, delayed: true })).toMatchObject({ runs: 2 });
  });

  test("jobs that other workers hold are left to them, also at the global limit", async () => {
    const { bench } = await open();
    const queue = bench.queue();
    const other = bench.worker(null);
    await queue.add("held", 1);
    const held = await other.getNextJob();
    await queue.add("x", 1);
    await queue.setGlobalConcurrency(1);
    const full = await drainQueue(queue, () => 1);
    expect(full).toMatchObject({ runs: 0, counts: { waiting: 1, active: 1 } });
    await queue.setGlobalConcurrency(null);
    expect(await drainQueue(queue, () => 1)).toMatchObject({ runs: 1, counts: { active: 1 } });
    await held?.moveToCompleted(1);
  });

  test("a job whose worker is gone is worked once its lease has ended by the clock", async () => {
    const { bench, clock } = await open();
    const queue = bench.queue();
    const gone = bench.worker(null, { lockDuration: 60_000 });
    const { id } = await queue.add("x", 1);
    await gone.getNextJob(undefined, { renew: false });
    expect(await drainQueue(queue, () => 1)).toMatchObject({ runs: 0, counts: { active: 1 } });
    await clock.advance(60_001);
    expect(await drainQueue(queue, () => 1)).toMatchObject({ completed: [{ id }] });
  });

  test("every way to fail is told: cancelled, expired, unrecoverable, no result", async () => {
    const { bench, clock } = await open();
    const queue = bench.queue<{ x: { data: string; result: unknown } }>();
    await (await queue.add("x", "cancelled", { jobId: "a" })).cancel("why");
    await queue.add("x", "expired", { jobId: "b", ttl: 5 });
    await queue.add("x", "fatal", { jobId: "c", attempts: 9 });
    await queue.add("x", "bad", { jobId: "d" });
    await clock.advance(6);
    const { failed, completed } = await drainQueue(queue, (job) => {
      if (job.data === "fatal") throw new UnrecoverableError("fatal");
      return 1n;
    });
    expect(completed).toEqual([]);
    const reasons = Object.fromEntries(failed.map(({ id, reason }) => [id, reason]));
    expect(reasons).toEqual({
      a: "cancelled: why",
      b: expect.stringMatching(/^expired/),
      c: "fatal",
      d: expect.stringMatching(/BigInt|bigint/),
    });
  });

  test("dead letters have arrived, and the queue's serializer is used", async () => {
    const { bench } = await open();
    const serializer = {
      serialize: (value: unknown) => `v${JSON.stringify(value)}`,
      deserialize: (text: string) => JSON.parse(text.slice(1)),
    };
    const queue = bench.queue({ serializer });
    const dead = bench.queue({}, `${bench.name}-dead`);
    await queue.addBulk([1, 2, 3].map((data) => ({ name: "x", data })));
    const options = { deadLetter: { queue: dead.name }, concurrency: 3 };
    const { completed, failed } = await drainQueue(
      queue,
      (job) => {
        if (job.data !== 2) throw new Error("no");
        return { twice: job.data * 2 };
      },
      options,
    );
    expect(completed).toMatchObject([{ data: 2, result: { twice: 4 } }]);
    expect(failed.length).toBe(2);
    expect(await dead.getWaitingCount()).toBe(2);
  });

  test("a handler in a file runs in threads", async () => {
    const { bench } = await open();
    const queue = bench.queue();
    await queue.add("x", { do: "throw" });
    await queue.add("x", { do: "echo" });
    const file = new URL("../support/processors/steps.cjs", import.meta.url);
    expect(await drainQueue(queue, file)).toMatchObject({
      completed: [{ result: { do: "echo" } }],
      failed: [{ reason: "thrown in the thread" }],
    });
  });

  test("many jobs with many at once are each run once", async () => {
    const { bench } = await open();
    const queue = bench.queue();
    await queue.addBulk(
      Array.from({ length: 700 }, (_, data) => ({ name: "x", data, opts: { delay: data % 3 } })),
    );
    const { completed } = await drainQueue(queue, (job) => job.data, {
      concurrency: 50,
      delayed: true,
    });
    expect(new Set(completed.map(({ result }) => result)).size).toBe(700);
    expect(completed.length).toBe(700);
  });

  test("nothing is left open, whether it ends well or not", async () => {
    const bench = await Bench.own();
    const address = { name: bench.name, connection: bench.url };
    const queue = bench.queue();
    await queue.add("x", 1);
    await drainQueue(address, () => 1);
    await queue.add("x", 1);
    await refusal(drainQueue(address, () => queue.add("x", 1), { limit: 2 }));
    await queue.close();
    await until("all is closed", async () => (await lanesOpen(bench.client)) === 0);
  });

  test("a keyspace that is not ours is refused", async () => {
    const bench = await Bench.own();
    await bench.client.set(`emq:{${bench.name}}:meta`, "echomq:9.0.0");
    const address = { name: bench.name, connection: bench.url };
    expect(await refusal(drainQueue(address, () => 1))).toMatchObject({ code: "MAJOR_MISMATCH" });
  });

  test("a keyspace that changes hands meanwhile ends it with the reason", async () => {
    const bench = await Bench.own();
    const queue = bench.queue();
    await queue.add("x", 1);
    const work = drainQueue(queue, async () => {
      await bench.client.set(`emq:{${bench.name}}:meta`, "echomq:9.0.0");
    });
    expect(await refusal(work)).toMatchObject({ code: "MAJOR_MISMATCH" });
  });

  test("is typed by the map of the queue", () => {
    const typed = async (queue: Queue<Kinds>): Promise<void> => {
      const drained = await drainQueue(queue, (job) =>
        job.name === "mail" ? { sent: true } : String(job.data),
      );
      expectTypeOf(drained).toEqualTypeOf<Drained<Kinds>>();
      for (const one of drained.completed) {
        if (one.name === "mail") expectTypeOf(one.result).toEqualTypeOf<{ sent: boolean }>();
        else expectTypeOf(one.data).toBeNumber();
      }
      for (const one of drained.failed) expectTypeOf(one.reason).toBeString();
      // @ts-expect-error null fetches by hand, which is no processor
      await drainQueue(queue, null);
      // @ts-expect-error no such option
      await drainQueue(queue, () => "x", { autorun: true });
    };
    expectTypeOf(typed).toBeFunction();
  });
});
