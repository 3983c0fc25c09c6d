import { sharedServer } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { DelayedError, RateLimitError, WaitingError } from "../../src/index.js";
import { Bench, ENGINES } from "../support/bench.js";
import { until } from "../support/until.js";

const HOUR = 3_600_000;

describe.each(ENGINES)("a cancelled job ends at once on %s", (engine) => {
  const open = async () => Bench.on((await sharedServer(engine)).url);

  test.each([
    ["DelayedError", () => new DelayedError(HOUR)],
    ["WaitingError", () => new WaitingError()],
    ["RateLimitError", () => new RateLimitError(HOUR)],
    ["an error with a backoff", () => new Error("later")],
  ])("when the verdict comes just before its run ends with %s", async (_name, make) => {
    const bench = await open();
    const queue = bench.queue();
    const runs: string[] = [];
    bench.worker(async (job) => {
      runs.push(job.name);
      // Between the worker's last look for verdicts and its settlement.
      await queue.cancel(job.id, "enough");
      throw make();
    });
    const opts = { attempts: 5, backoff: HOUR, priority: 3 };
    const job = await queue.add("cancelled", {}, opts);
    await until("it is failed", async () => (await job.getState()) === "failed");
    expect(runs).toEqual(["cancelled"]);
    const found = await queue.getJob(job.id);
    expect(found?.failedReason).toBe("cancelled: enough");
    expect(await bench.client.exists(bench.key("verdicts"), bench.key("delayed"))).toBe(0);
  });

  test("while the queue is held by hand, by its rate or by its limit of jobs at once", async () => {
    const bench = await open();
    const queue = bench.queue();
    const ran: string[] = [];
    const hold = new Promise<void>(() => undefined);
    const worker = bench.worker(
      (job) => {
        ran.push(job.name);
        return job.name === "long" ? hold : undefined;
      },
      { concurrency: 3 },
    );
    await worker.run();
    const ends = async (what: string) => {
      const kept = await queue.add("kept", {});
      const job = await queue.add(what, {}, { priority: 9 });
      await queue.cancel(job.id);
      await until(`${what} is failed`, async () => (await job.getState()) === "failed");
      expect(await kept.getState()).toBe("waiting");
      await kept.remove();
    };
    await queue.rateLimit(HOUR);
    await ends("held");
    await queue.rateLimit(0);
    await queue.setGlobalRateLimit(1, HOUR);
    await queue.add("first", {});
    await until("the rate is used up", () => ran.length === 1);
    await ends("rated");
    await queue.removeGlobalRateLimit();
    await queue.add("long", {});
    await until("it runs", () => ran.includes("long"));
    await queue.setGlobalConcurrency(1);
    await ends("limited");
    expect(ran).toEqual(["first", "long"]);
  });
});
