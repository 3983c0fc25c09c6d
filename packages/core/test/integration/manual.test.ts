import { sharedServer } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { Bench, ENGINES, makeDriver, makeStrict } from "../support/bench.js";
import { refusal, until } from "../support/until.js";

describe.each(ENGINES)("fetching by hand on %s", (engine) => {
  const open = async (): Promise<Bench> => {
    const { url } = await sharedServer(engine);
    const driver = engine === "redis" ? makeStrict(url) : makeDriver(url, "node-redis");
    return Bench.on(url, await driver);
  };

  test("a job is completed, failed, put off and put back by its caller", async () => {
    const bench = await open();
    const queue = bench.queue();
    const worker = bench.worker(null);
    const jobs = await queue.addBulk(
      ["done", "bad", "later", "back"].map((name) => ({ name, data: {}, opts: { attempts: 2 } })),
    );
    const [done, bad, later, back] = [
      await worker.getNextJob(),
      await worker.getNextJob("mine"),
      await worker.getNextJob(),
      await worker.getNextJob(),
    ];
    expect([done, bad, later, back].map((job) => job?.id)).toEqual(jobs.map(({ id }) => id));
    expect(await queue.getJobCounts()).toMatchObject({ active: 4, waiting: 0 });
    expect(bad?.token).toBe("mine");
    expect(done?.token).toMatch(/^[\w.-]+$/);
    await done?.updateProgress(40);
    await done?.moveToCompleted({ ok: true });
    await bad?.moveToFailed(new Error("not good"));
    await later?.moveToDelayed(Date.now() + 3_600_000);
    await back?.moveToWait(back.token);
    expect(await queue.getJobCounts()).toMatchObject({
      active: 0,
      completed: 1,
      delayed: 1,
      waiting: 2,
    });
    expect(await queue.getJob(jobs[0]?.id ?? "")).toMatchObject({
      returnvalue: { ok: true },
      progress: 40,
      attemptsMade: 1,
    });
    expect(await queue.getJob(jobs[1]?.id ?? "")).toMatchObject({
      failedReason: "not good",
      attemptsMade: 1,
    });
    expect(await queue.getJob(jobs[3]?.id ?? "")).toMatchObject({ attemptsMade: 0 });
    const second = await worker.getNextJob();
    expect([second?.name, second?.attemptsMade]).toEqual(["bad", 1]);
    await second?.moveToFailed("again");
    expect(await queue.getJobCounts()).toMatchObject({ failed: 1 });
  });

  test("nothing to fetch is undefined, at once or in time; a job that comes is given", async () => {
    const bench = await open();
    const queue = bench.queue();
    const worker = bench.worker(null);
    expect(await worker.getNextJob(undefined, { block: false })).toBe(undefined);
    expect(await worker.getNextJob(undefined, { timeout: 5 })).toBe(undefined);
    const waiting = worker.getNextJob(undefined, { timeout: 60_000 });
    const job = await queue.add("x", 1);
    expect((await waiting)?.id).toBe(job.id);
    worker.pause();
    expect(await worker.getNextJob(undefined, { block: false })).toBe(undefined);
  });

  test("several callers get several jobs, each once", async () => {
    const bench = await open();
    const queue = bench.queue();
    const worker = bench.worker(null);
    const waiting = Array.from({ length: 25 }, () =>
      worker.getNextJob(undefined, { timeout: 60_000 }),
    );
    await queue.addBulk(waiting.map((_, n) => ({ name: "x", data: n })));
    const jobs = await Promise.all(waiting);
    expect(new Set(jobs.map((job) => job?.id)).size).toBe(25);
    await Promise.all(jobs.map((job) => job?.moveToCompleted()));
    expect(await bench.completed()).toBe(25);
  });
});

describe("a job that was fetched by hand", () => {
  const open = async (): Promise<Bench> => Bench.on((await sharedServer("redis")).url);

  test("keeps its lease while it is held, and is given back by close", async () => {
    const bench = await open();
    const queue = bench.queue();
    const options = { lockDuration: 200, stalledInterval: 150 };
    const worker = bench.worker(null, options);
    const other = bench.worker(() => undefined, options);
    other.pause();
    const job = await queue.add("x", 1);
    const held = await worker.getNextJob();
    const score = async () => Number(await bench.client.zscore(bench.key("active"), job.id));
    const first = await score();
    await until("it was renewed twice", async () => (await score()) < first - 200);
    await worker.close({ timeout: 0 });
    expect(await job.getState()).toBe("waiting");
    expect(held?.signal.reason.code).toBe("WORKER_CLOSING");
    expect((await refusal(held?.moveToCompleted(1) ?? Promise.resolve())).code).toMatch(
      /WORKER_CLOSING|CLOSED/,
    );
  });

  test("without renewal it is held as long as its caller extends it, then lost", async () => {
    const bench = await open();
    const queue = bench.queue();
    const worker = bench.worker(null, { lockDuration: 300, stalledInterval: 200 });
    const job = await queue.add("x", 1);
    const held = await worker.getNextJob(undefined, { renew: false });
    await held?.extendLock(60_000);
    const score = Number(await bench.client.zscore(bench.key("active"), job.id));
    await held?.extendLock(100);
    expect(Number(await bench.client.zscore(bench.key("active"), job.id))).toBeGreaterThan(score);
    await until("it is lost", () => held?.signal.aborted);
    expect(held?.signal.reason.name).toBe("LeaseLostError");
    expect((await refusal(held?.moveToCompleted(1) ?? Promise.resolve())).code).toBe("LEASE_LOST");
    expect((await refusal(held?.extendLock(500) ?? Promise.resolve())).code).toBe("LEASE_LOST");
  });

  test("is moved once; a result that cannot be stored is refused and leaves it", async () => {
    const bench = await open();
    const queue = bench.queue();
    const worker = bench.worker(null);
    await queue.add("x", 1);
    const job = await worker.getNextJob();
    expect((await refusal(job?.moveToCompleted(1n) ?? Promise.resolve())).option).toBe("value");
    expect((await refusal(job?.moveToDelayed(Number.NaN) ?? Promise.resolve())).option).toBe(
      "timestamp",
    );
    await job?.moveToCompleted("once");
    for (const again of [job?.moveToCompleted(2), job?.moveToFailed(3), job?.moveToWait()]) {
      expect((await refusal(again ?? Promise.resolve())).code).toBe("EMQSTATE");
    }
    expect((await queue.getJob(job?.id ?? ""))?.returnvalue).toBe("once");
  });

  test("is told when it is cancelled or takes too long", async () => {
    const bench = await open();
    const queue = bench.queue();
    const worker = bench.worker(null);
    await queue.add("x", 1);
    const job = await worker.getNextJob();
    await queue.cancel(job?.id ?? "", "why not");
    await until("it is told", () => job?.signal.aborted);
    expect((await refusal(job?.moveToCompleted() ?? Promise.resolve())).code).toBe("CANCELLED");
    await queue.add("x", 2, { timeout: 20 });
    const slow = await worker.getNextJob();
    await until("it is told", () => slow?.signal.aborted);
    expect(slow?.signal.reason.code).toBe("JOB_TIMEOUT");
    await until("both are failed", async () => (await queue.getJobCounts()).failed === 2);
  });

  test("a worker with a handler, bad options and a closed worker are refused", async () => {
    const bench = await open();
    expect((await refusal(bench.worker(() => 1).getNextJob())).code).toBe("NO_MANUAL");
    const worker = bench.worker(null);
    expect((await refusal(worker.getNextJob(1 as never))).option).toBe("token");
    expect((await refusal(worker.getNextJob("t", { timeout: 0 }))).option).toBe("options.timeout");
    expect((await refusal(worker.getNextJob("t", { block: 1 as never }))).option).toBe(
      "options.block",
    );
    expect((await refusal(worker.getNextJob("t", { blok: true } as never))).message).toContain(
      "did you mean block",
    );
    const waiting = worker.getNextJob(undefined, { timeout: 60_000 });
    await worker.waitUntilReady();
    await worker.close();
    expect(await waiting).toBe(undefined);
    expect((await refusal(worker.getNextJob())).code).toBe("CLOSED");
  });
});
