import { sharedServer } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { Bench, type DriverName, ENGINES, gate, makeDriver } from "../support/bench.js";
import { refusal, settles, until } from "../support/until.js";

const DRIVERS: readonly DriverName[] = ["ioredis", "node-redis"];
const WAIT = 20_000;

describe.each(ENGINES)("waiting for a job to end on %s", (engine) => {
  describe.each(DRIVERS)("over %s", (driver) => {
    async function open(): Promise<Bench> {
      const { url } = await sharedServer(engine);
      const made = await makeDriver(url, driver);
      onTestFinished(() => made.close());
      return Bench.on(url, made);
    }

    test("a result comes back, whether the job ends before, while or after it is waited for", async () => {
      const bench = await open();
      const queue = bench.queue<{ sum: { data: number; result: number } }>();
      const events = bench.events();
      const { opened, open: release } = gate();
      const worker = bench.worker<{ sum: { data: number; result: number } }>(
        async ({ data }) => {
          if (data > 10) await opened;
          return data + 1;
        },
        { concurrency: 4 },
      );
      const before = await queue.add("sum", 1);
      await until("it is done", () => before.isCompleted());
      expect(await before.waitUntilFinished(events, WAIT)).toBe(2);
      const during = await queue.add("sum", 11);
      const wait = during.waitUntilFinished(events, WAIT);
      const again = during.waitUntilFinished(events, WAIT);
      release();
      expect(await Promise.all([wait, again])).toEqual([12, 12]);
      await worker.close();
    });

    test("a failed job rejects with its reason, once no attempt is left", async () => {
      const bench = await open();
      const queue = bench.queue();
      const events = bench.events();
      bench.worker(({ attemptsMade }) => {
        throw new Error(`no ${attemptsMade}`);
      });
      const job = await queue.add("x", {}, { attempts: 3 });
      const error = await refusal(job.waitUntilFinished(events, WAIT));
      expect(error).toMatchObject({ code: "JOB_FAILED", message: "no 2" });
      const late = await refusal(job.waitUntilFinished(events, WAIT));
      expect(late).toMatchObject({ code: "JOB_FAILED", message: "no 2" });
    });

    test("a job that is not kept gives its result to those who waited, and is gone for others", async () => {
      const bench = await open();
      const queue = bench.queue();
      const events = bench.events();
      const worker = bench.worker(({ data }) => ({ data }), { concurrency: 20 });
      const opts = { removeOnComplete: true, removeOnFail: true };
      const results = await Promise.all(
        Array.from({ length: 60 }, (_, n) =>
          queue.addAndWait("x", n, opts, { events, timeout: WAIT }),
        ),
      );
      expect(results).toEqual(Array.from({ length: 60 }, (_, n) => ({ data: n })));
      const told = new Set<string>();
      events.on("completed", ({ jobId }) => told.add(jobId));
      const job = await queue.add("x", 1, opts);
      await until("it is gone", async () => (await job.getState()) === "unknown");
      await until("its end is told", () => told.has(job.id));
      const gone = await refusal(job.waitUntilFinished(events, WAIT));
      expect(gone).toMatchObject({ code: "JOB_REMOVED" });
      await worker.close();
    });

    test("removal, closing and the timeout end a wait", async () => {
      const bench = await open();
      const queue = bench.queue();
      const events = bench.events();
      const job = await queue.add("x", {}, { delay: 3_600_000 });
      const removed = refusal(job.waitUntilFinished(events, WAIT));
      await events.waitUntilReady();
      await bench.client
        .multi()
        .zrem(bench.key("delayed"), job.id)
        .del(bench.key(`job:${job.id}`))
        .xadd(bench.key("events"), "*", `x${job.id}`, "")
        .exec();
      expect(await settles("the wait", removed)).toMatchObject({ code: "JOB_REMOVED" });
      const quiet = await queue.add("x", {}, { delay: 3_600_000 });
      const silent = refusal(quiet.waitUntilFinished(events, WAIT));
      await bench.client.del(bench.key(`job:${quiet.id}`));
      // No event tells: the look every few seconds does.
      expect(await settles("the wait", silent)).toMatchObject({ code: "JOB_REMOVED" });
      const other = await queue.add("x", {}, { delay: 3_600_000 });
      expect(await refusal(other.waitUntilFinished(events, 50))).toMatchObject({
        code: "WAIT_TIMEOUT",
        transient: false,
      });
      const open1 = refusal(other.waitUntilFinished(events, WAIT));
      const open2 = refusal(queue.addAndWait("x", {}, { delay: 9_000 }, { events, timeout: WAIT }));
      await until("both wait", async () => (await queue.getDelayedCount()) >= 3);
      await events.close();
      expect((await open1).code).toBe("CLOSED");
      expect((await open2).code).toBe("CLOSED");
      const added = await queue.getDelayedCount();
      const refused = refusal(queue.addAndWait("x", {}, {}, { events, timeout: WAIT }));
      expect((await refused).code).toBe("CLOSED");
      expect(await queue.getDelayedCount()).toBe(added);
    });

    test("a large result comes whole, or its loss is told", async () => {
      const bench = await open();
      const queue = bench.queue();
      const long = "x".repeat(50_000);
      const events = bench.events();
      bench.worker(() => long);
      expect(await queue.addAndWait("x", {}, {}, { events, timeout: WAIT })).toBe(long);
      const opts = { removeOnComplete: true };
      const lost = refusal(queue.addAndWait("x", {}, opts, { events, timeout: WAIT }));
      expect(await lost).toMatchObject({ code: "RESULT_GONE" });
    });

    test("what it is given is checked", async () => {
      const bench = await open();
      const queue = bench.queue();
      const events = bench.events();
      const other = bench.events({ autorun: false }, "another");
      const job = await queue.add("x", {}, { delay: 3_600_000 });
      const cases: [string, () => Promise<unknown>][] = [
        ["timeout", () => job.waitUntilFinished(events, undefined as never)],
        ["timeout", () => job.waitUntilFinished(events, 0)],
        ["timeout", () => job.waitUntilFinished(events, Number.NaN)],
        ["events", () => job.waitUntilFinished({} as never, WAIT)],
        ["events", () => job.waitUntilFinished(other, WAIT)],
        ["events", () => queue.addAndWait("x", {}, {}, { timeout: WAIT } as never)],
        ["timeout", () => queue.addAndWait("x", {}, {}, { events } as never)],
        ["wait", () => queue.addAndWait("x", {}, {}, undefined as never)],
        ["wait.ttl", () => queue.addAndWait("x", {}, {}, { events, timeout: 1, ttl: 5 } as never)],
      ];
      for (const [option, work] of cases) {
        expect(await refusal(work), option).toMatchObject({ code: "VALIDATION", option });
      }
    });
  });
});
