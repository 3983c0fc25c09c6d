import { fileURLToPath } from "node:url";
import { sharedServer } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { Bench } from "../support/bench.js";
import { refusal, until } from "../support/until.js";

const FILE = new URL("../support/processors/steps.cjs", import.meta.url);
const NONE = new URL("../support/processors/none.cjs", import.meta.url);

const open = async (): Promise<Bench> => Bench.on((await sharedServer("redis")).url);

describe("a handler in threads of its own", () => {
  test.each([
    ["URL", FILE],
    ["path", fileURLToPath(FILE)],
    ["URL as text", FILE.href],
  ])("given as %s works with its job from there", async (_how, file) => {
    const bench = await open();
    const queue = bench.queue();
    bench.worker(file, { concurrency: 2 });
    const jobs = await queue.addBulk(
      ["a", "b", "c"].map((name) => ({ name, data: { do: "work" } })),
    );
    await until("all are done", async () => (await bench.completed()) === 3);
    for (const { id, name } of jobs) {
      const data = { do: "work", seen: true };
      expect(await queue.getJob(id)).toMatchObject({
        data,
        progress: 50,
        returnvalue: { id, token: "string", data },
      });
      expect((await queue.getJobLogs(id)).logs).toEqual([`line of ${name}`]);
    }
  });

  const failures: readonly [string, RegExp][] = [
    ["throw", /^thrown in the thread$/],
    ["null", /null/],
    ["exit", /ended with code 3/],
    ["uncaught", /nobody caught this/],
    ["memory", /memory/],
    ["function", /clone/],
  ];

  test.each(failures)(
    "%s fails the job with its cause, and the next job runs",
    async (what, why) => {
      const bench = await open();
      const queue = bench.queue();
      bench.worker(FILE, { resourceLimits: { maxOldGenerationSizeMb: 24 } });
      const job = await queue.add("x", { do: what });
      const next = await queue.add("y", { do: "echo" });
      await until("the next is done", async () => (await next.getState()) === "completed");
      const found = await queue.getJob(job.id);
      expect(found?.failedReason).toMatch(why);
      if (what === "throw") expect(found?.stacktrace[0]).toContain("steps.cjs");
    },
  );

  test("the signal reaches the thread, and so do control errors come back", async () => {
    const bench = await open();
    const queue = bench.queue();
    const worker = bench.worker(FILE);
    const job = await queue.add("x", { do: "signal" });
    await until("it runs", () => worker.active === 1);
    await until("it is active", async () => (await job.getState()) === "active");
    await job.cancel("enough");
    await until("it is failed", async () => (await job.getState()) === "failed");
    expect((await queue.getJob(job.id))?.failedReason).toBe("cancelled: enough");
    const later = await queue.add("x", { do: "delay" });
    await until("it is done", async () => (await later.getState()) === "completed");
    expect(await queue.getJob(later.id)).toMatchObject({ returnvalue: "later", attemptsMade: 1 });
  });

  test("a thread that never comes back is ended after a timeout, and another takes its place", async () => {
    const bench = await open();
    const queue = bench.queue();
    bench.worker(FILE);
    const job = await queue.add("x", { do: "memory" }, { timeout: 50 });
    const next = await queue.add("y", { do: "echo" });
    await until("the next is done", async () => (await next.getState()) === "completed");
    expect((await queue.getJob(job.id))?.failedReason).toMatch(/longer than 50 ms|memory/);
  });

  test("a file without a function fails each job and says so", async () => {
    const bench = await open();
    const queue = bench.queue();
    bench.worker(NONE);
    const job = await queue.add("x", {});
    await until("it is failed", async () => (await job.getState()) === "failed");
    expect((await queue.getJob(job.id))?.failedReason).toContain(
      "no function as its default export",
    );
  });

  test.each([
    ["no such file", "/no/such/file.mjs"],
    ["a folder", "/tmp"],
    ["another protocol", "https://example.com/handler.mjs"],
    ["nothing", undefined],
    ["a number", 5],
    ["an empty path", ""],
  ])("%s is refused", async (_what, handler) => {
    const bench = await open();
    expect((await refusal(() => bench.worker(handler as string))).option).toBe("handler");
  });

  test.each([[{ maxOldGenerationSizeMb: 0 }], [{ maxOldSize: 5 }], [5], [{ stackSizeMb: "4" }]])(
    "limits of %j are refused",
    async (resourceLimits) => {
      const bench = await open();
      const error = await refusal(() =>
        bench.worker(FILE, { resourceLimits: resourceLimits as never }),
      );
      expect(error.option).toMatch(/^resourceLimits/);
    },
  );
});
