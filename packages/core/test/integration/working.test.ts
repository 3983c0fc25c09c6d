import { sharedServer } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import {
  DelayedError,
  type Job,
  RateLimitError,
  UnrecoverableError,
  WaitingError,
  type Worker,
} from "../../src/index.js";
import { Bench, ENGINES, gate, makeDriver } from "../support/bench.js";
import { startChild } from "../support/child.js";
import { refusal, until } from "../support/until.js";

async function open(): Promise<Bench> {
  return Bench.on((await sharedServer("redis")).url);
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve()));

describe("concurrency", () => {
  test("may be raised and lowered while the worker runs", async () => {
    const bench = await open();
    const queue = bench.queue();
    const gates = Array.from({ length: 6 }, () => gate());
    let running = 0;
    let most = 0;
    const worker = bench.worker(async (job) => {
      running += 1;
      most = Math.max(most, running);
      await gates[job.data as number]?.opened;
      running -= 1;
    });
    await queue.addBulk(gates.map((_, n) => ({ name: "x", data: n })));
    await until("one runs", () => running === 1);
    expect(worker.concurrency).toBe(1);
    worker.concurrency = 3;
    await until("three run", () => running === 3);
    worker.concurrency = 1;
    for (const one of gates.slice(0, 3)) one.open();
    await until("one runs again", async () => (await bench.completed()) === 3 && running === 1);
    for (const one of gates) one.open();
    await until("all are done", async () => (await bench.completed()) === 6);
    expect(most).toBe(3);
  });

  test.each([0, -1, 1.5, Number.NaN, 10_001, "2", null])("%j is refused", async (value) => {
    const worker = (await open()).worker(() => undefined);
    const set = () => {
      worker.concurrency = value as number;
    };
    expect((await refusal(set)).option).toBe("concurrency");
    expect(worker.concurrency).toBe(1);
  });
});

test("isRunning and isPaused say where the worker stands", async () => {
  const bench = await open();
  const worker = bench.worker(() => undefined, { autorun: false });
  expect([worker.isRunning(), worker.isPaused()]).toEqual([false, false]);
  await worker.run();
  worker.pause();
  expect([worker.isRunning(), worker.isPaused()]).toEqual([true, true]);
  worker.resume();
  expect(worker.isPaused()).toBe(false);
  await worker.close();
  expect(worker.isRunning()).toBe(false);
});

describe.each(ENGINES)("moving oneself on %s", (engine) => {
  const here = async (): Promise<Bench> => {
    const { url } = await sharedServer(engine);
    return Bench.on(url, await makeDriver(url, engine === "redis" ? "ioredis" : "node-redis"));
  };

  test("a handler that lost its lease and never ends gives its slot back", async () => {
    const bench = await here();
    const queue = bench.queue();
    const ran: string[] = [];
    bench.worker(
      async (job) => {
        ran.push(job.name);
        if (job.name === "stuck") await new Promise(() => undefined);
      },
      { lockDuration: 400 },
    );
    await queue.add("stuck", {});
    await until("it runs", () => ran.length === 1);
    await queue.obliterate({ force: true });
    await queue.add("next", {});
    await until("the next one runs", () => ran.length === 2);
  });

  test("a job is told with its times, and with what its handler wrote through it", async () => {
    const bench = await here();
    const told: unknown[] = [];
    const worker = bench.worker(async (job) => {
      expect(job.processedOn).toBeGreaterThanOrEqual(job.timestamp);
      await job.updateData({ v: 2 });
      await job.updateProgress(50);
      if (job.attemptsMade === 0) throw new Error("again");
    });
    const note = (how: string) => (job: Job) => {
      const { data, progress, attemptsMade, attemptsStarted, finishedOn, stacktrace } = job;
      const ended = finishedOn === undefined ? "goes on" : "ended";
      told.push([how, data, progress, attemptsMade, attemptsStarted, ended, stacktrace.length]);
    };
    worker.on("failed", note("failed"));
    worker.on("completed", note("completed"));
    await bench.queue().add("x", { v: 1 }, { attempts: 2 });
    await until("both are told", () => told.length === 2);
    expect(told).toEqual([
      ["failed", { v: 2 }, 50, 1, 1, "goes on", 1],
      ["completed", { v: 2 }, 50, 2, 2, "ended", 1],
    ]);
  });

  test("DelayedError puts the job off and counts no attempt", async () => {
    const bench = await here();
    const queue = bench.queue();
    const runs: unknown[] = [];
    const told: unknown[] = [];
    const worker = bench.worker(async (job) => {
      runs.push([job.attemptsMade, job.attemptsStarted]);
      if (runs.length === 1) throw new DelayedError(30);
      if (runs.length === 2) {
        await job.moveToDelayed(Date.now() + 30);
        throw new DelayedError();
      }
      if (runs.length === 3)
        throw Object.assign(new Error("x"), { name: "DelayedError", delay: 5 });
      return "done";
    });
    worker.on("failed", (job) => told.push(job.id));
    const job = await queue.add("x", {});
    await until("it is done", async () => (await job.getState()) === "completed");
    expect(runs).toEqual([1, 2, 3, 4].map((started) => [0, started]));
    expect(await queue.getJob(job.id)).toMatchObject({
      attemptsMade: 1,
      attemptsStarted: 4,
      failedReason: undefined,
      stacktrace: [],
    });
    expect(told).toEqual([]);
  });

  test("DelayedError without a delay fails the attempt when the job was not moved", async () => {
    const bench = await here();
    const queue = bench.queue();
    bench.worker(() => {
      throw new DelayedError();
    });
    const job = await queue.add("x", {});
    await until("it is failed", async () => (await job.getState()) === "failed");
    expect((await queue.getJob(job.id))?.failedReason).toContain("moveToDelayed was not called");
  });

  test("WaitingError puts the job behind its peers, RateLimitError at the head", async () => {
    const bench = await here();
    const queue = bench.queue();
    const order: unknown[] = [];
    const worker: Worker = bench.worker(
      async (job) => {
        order.push(job.data);
        if (order.length === 1) throw new WaitingError();
        if (order.length === 2) throw new RateLimitError(40);
        if (order.length === 3) {
          await worker.rateLimit(40);
          throw new RateLimitError();
        }
        return null;
      },
      { autorun: false },
    );
    await queue.addBulk([1, 2, 3].map((n) => ({ name: "x", data: n })));
    await worker.run();
    await until("all are done", async () => (await bench.completed()) === 3);
    expect(order).toEqual([1, 2, 2, 2, 3, 1]);
    for (const job of await queue.getCompleted()) {
      expect(job).toMatchObject({ attemptsMade: 1, failedReason: undefined });
    }
    expect(await bench.client.hexists(bench.key("meta"), "rate.max")).toBe(0);
  });

  test("a job of three steps survives the death of its worker", async () => {
    const bench = await here();
    const queue = bench.queue();
    const options = { lockDuration: 400, stalledInterval: 200, maxStalledCount: 5 };
    const job = await queue.add("steps", { step: 1, done: [] });
    const child = startChild("step-worker", { url: bench.url, name: bench.name, options });
    await until("the second step has begun", () => child.messages.includes("step 2"));
    await child.kill();
    const again = startChild("step-worker", {
      url: bench.url,
      name: bench.name,
      options: { ...options, go: true },
    });
    await until("it is done", async () => (await job.getState()) === "completed");
    expect(again.messages).not.toContain("step 1");
    expect(await queue.getJob(job.id)).toMatchObject({
      data: { step: 4, done: [1, 2, 3] },
      returnvalue: [1, 2, 3],
      attemptsMade: 1,
    });
  });
});

describe("moveToDelayed and moveToWait in a handler", () => {
  test("hold when the handler returns, and not when it fails", async () => {
    const bench = await open();
    const queue = bench.queue();
    const runs: string[] = [];
    bench.worker(async (job, { token }) => {
      runs.push(job.name);
      if (runs.length === 1) return job.moveToWait(token);
      if (runs.length === 2) {
        await job.moveToDelayed(new Date(0), token);
        throw new UnrecoverableError("no");
      }
      return undefined;
    });
    const job = await queue.add("x", {});
    await until("it is failed", async () => (await job.getState()) === "failed");
    expect(runs.length).toBe(2);
    expect(await queue.getJob(job.id)).toMatchObject({ failedReason: "no", attemptsMade: 1 });
  });

  test("are refused outside the run, with another token and for no time", async () => {
    const bench = await open();
    const queue = bench.queue();
    const job = await queue.add("x", {});
    expect((await refusal(job.moveToDelayed(1))).code).toBe("EMQSTATE");
    const seen: unknown[] = [];
    bench.worker(async (one) => {
      seen.push((await refusal(one.moveToWait("other"))).code);
      for (const bad of [Number.NaN, "1", -1, 1.5, null, 8.64e15]) {
        seen.push((await refusal(one.moveToDelayed(bad as number))).option);
      }
    });
    await until("it is done", async () => (await job.getState()) === "completed");
    expect(seen).toEqual(["EMQSTALE", ...Array(6).fill("timestamp")]);
  });

  test.each([Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY, "1"])(
    "an error with a delay of %j is refused",
    async (delay) => {
      expect((await refusal(() => new DelayedError(delay as number))).option).toBe("delay");
      expect((await refusal(() => new RateLimitError(delay as number))).option).toBe("delay");
    },
  );
});

describe("cancel", () => {
  test("reaches a run of another process's worker with its reason, whatever the handler does", async () => {
    const bench = await open();
    const queue = bench.queue();
    const other = bench.queue();
    const reasons: unknown[] = [];
    let running = 0;
    const worker = bench.worker(
      async (job, { signal }) => {
        running += 1;
        await aborted(signal);
        reasons.push([signal.reason.name, signal.reason.code, signal.reason.reason]);
        if (job.name === "returns") return "fine";
        throw new Error("something else");
      },
      { concurrency: 2 },
    );
    const jobs = [
      await queue.add("returns", {}, { attempts: 5 }),
      await queue.add("throws", {}, { attempts: 5 }),
    ];
    await until("both run", () => running === 2);
    await other.cancel(jobs[0]?.id ?? "", "changed my mind");
    await worker.cancelJob(jobs[1]?.id ?? "", "changed my mind");
    await until("both are failed", async () => (await queue.getJobCounts()).failed === 2);
    expect(reasons).toEqual(Array(2).fill(["CancelledError", "CANCELLED", "changed my mind"]));
    for (const job of await queue.getFailed()) {
      expect(job).toMatchObject({ failedReason: "cancelled: changed my mind", attemptsMade: 1 });
    }
    expect(await bench.client.exists(bench.key("verdicts"))).toBe(0);
  });

  test("ends a waiting job without running it, and frees the slot of a handler that goes on", async () => {
    const bench = await open();
    const queue = bench.queue();
    const ran: string[] = [];
    const worker = bench.worker(
      (job) => {
        ran.push(job.name);
        return job.name === "deaf" ? new Promise(() => undefined) : undefined;
      },
      { autorun: false },
    );
    const first = await queue.add("deaf", {});
    const late = await queue.add("late", {}, { delay: 3_600_000, attempts: 3 });
    await late.cancel("no need");
    await worker.run();
    await until("it runs", () => ran.length === 1);
    await first.cancel();
    await queue.add("next", {});
    await until("the next runs", async () => (await bench.completed()) === 1);
    expect(ran).toEqual(["deaf", "next"]);
    const found = await queue.getJob(late.id);
    expect(found).toMatchObject({ failedReason: "cancelled: no need", attemptsMade: 0 });
    expect((await queue.getJob(first.id))?.failedReason).toBe("cancelled");
  });

  test("is not undone by the death of the worker", async () => {
    const bench = await open();
    const queue = bench.queue();
    const job = await queue.add("stuck", {}, { attempts: 3 });
    const options = { lockDuration: 400, stalledInterval: 200, maxStalledCount: 9 };
    const child = startChild("stuck-worker", { url: bench.url, name: bench.name, options });
    await until("it runs", () => child.messages.includes(`begun ${job.id}`));
    process.kill(child.pid, "SIGSTOP");
    await queue.cancel(job.id, "gone");
    await child.kill();
    const ran: string[] = [];
    bench.worker((one) => void ran.push(one.id), options);
    await until("it is failed", async () => (await job.getState()) === "failed");
    expect(ran).toEqual([]);
    expect((await queue.getJob(job.id))?.failedReason).toBe("cancelled: gone");
  });
});

describe("timeout and ttl", () => {
  test("a run that takes too long fails its attempt; what it returns later is dropped", async () => {
    const bench = await open();
    const queue = bench.queue();
    const reasons: unknown[] = [];
    const late = gate();
    const worker = bench.worker(async (job, { signal }) => {
      if (job.attemptsMade > 0) return "second";
      await aborted(signal);
      reasons.push([signal.reason.name, signal.reason.code, signal.reason.timeout]);
      await late.opened;
      return "first";
    });
    const failures: unknown[] = [];
    worker.on("failed", (_job, error, retry) => failures.push([(error as Error).name, retry]));
    const job = await queue.add("x", {}, { attempts: 2, timeout: 30 });
    await until("the attempt is failed", () => failures.length === 1);
    late.open();
    await until("it is done", async () => (await job.getState()) === "completed");
    expect(reasons).toEqual([["JobTimeoutError", "JOB_TIMEOUT", 30]]);
    expect(failures).toEqual([["JobTimeoutError", true]]);
    const found = await queue.getJob(job.id);
    expect(found).toMatchObject({ returnvalue: "second", attemptsMade: 2 });
    expect(found?.stacktrace[0]).toContain("longer than 30 ms");
  });

  test("the worker's own timeout holds for jobs without one", async () => {
    const bench = await open();
    const queue = bench.queue();
    bench.worker((_job, { signal }) => aborted(signal), { jobTimeout: 25 });
    const job = await queue.add("x", {});
    await until("it is failed", async () => (await job.getState()) === "failed");
    expect((await queue.getJob(job.id))?.failedReason).toBe("the run took longer than 25 ms");
  });

  test("a job that is not begun in time fails without running; one that was begun may go on", async () => {
    const bench = await open();
    const queue = bench.queue();
    const old = await queue.add("old", {}, { ttl: 20, attempts: 4 });
    const young = await queue.add("young", {}, { ttl: 3_600_000 });
    const put = await queue.add("put off", {}, { ttl: 30_000, delay: 5 });
    await until("it is too late", async () => {
      const [seconds = "0", micros = "0"] = await bench.client.time().then((t) => t.map(String));
      return Number(seconds) * 1_000 + Number(micros) / 1_000 > old.timestamp + 25;
    });
    const ran: string[] = [];
    const failures: string[] = [];
    const worker = bench.worker(async (job) => {
      ran.push(job.name);
    });
    worker.on("failed", (_job, error) => failures.push((error as Error).name));
    await until("the others are done", async () => (await bench.completed()) === 2);
    expect(ran.sort()).toEqual(["put off", "young"]);
    await until("it is told", () => failures.length === 1);
    expect(failures).toEqual(["ExpiredError"]);
    const found = await queue.getJob(old.id);
    expect(found).toMatchObject({
      failedReason: "expired: not begun within 20 ms",
      attemptsMade: 0,
    });
    expect([await young.getState(), await put.getState()]).toEqual(["completed", "completed"]);
  });

  test.each([0, -5, 1.5, "9", Number.POSITIVE_INFINITY, 2_073_600_001])(
    "jobTimeout %j is refused",
    async (jobTimeout) => {
      const bench = await open();
      const make = () => bench.worker(() => undefined, { jobTimeout: jobTimeout as number });
      expect((await refusal(make)).option).toBe("jobTimeout");
    },
  );

  test.each([
    ["timeout", 0],
    ["timeout", -1],
    ["timeout", 2_073_600_001],
    ["timeout", "5"],
    ["ttl", 0],
    ["ttl", Number.NaN],
    ["ttl", 1.5],
  ])("%s %j is refused", async (option, value) => {
    const queue = (await open()).queue();
    expect((await refusal(queue.add("x", {}, { [option]: value }))).option).toBe(`opts.${option}`);
  });
});
