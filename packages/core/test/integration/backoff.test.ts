import { sharedServer } from "@echomq/testkit";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { AdvancedOptions, Job, JobOptions, Processor, Queue } from "../../src/index.js";
import { Bench } from "../support/bench.js";
import { until } from "../support/until.js";

type Strategy = NonNullable<AdvancedOptions["backoffStrategy"]>;

const DAY = 86_400_000;
const TEN_YEARS = 315_360_000_000;
const boom: Processor<Record<string, { data: unknown; result: unknown }>> = () => {
  throw new Error("boom");
};

async function open(): Promise<Bench> {
  return Bench.on((await sharedServer("redis")).url);
}

interface Seen {
  readonly bench: Bench;
  readonly queue: Queue;
  readonly id: string;
  /** Retry flags and reasons as the worker told them. */
  readonly told: readonly (readonly [retry: boolean, reason: string | undefined])[];
}

/** Runs one job of type `mine` until its first attempt has failed. */
async function failOnce(
  backoffStrategy: unknown,
  opts: JobOptions = {},
  handler: Processor<Record<string, { data: unknown; result: unknown }>> = boom,
): Promise<Seen> {
  const bench = await open();
  const queue = bench.queue();
  const settings = { backoffStrategy } as AdvancedOptions;
  const told: [boolean, string | undefined][] = [];
  const worker = bench.worker(handler, { settings });
  worker.on("failed", (job, _error, retry) => told.push([retry, job.failedReason]));
  const { id } = await queue.add(
    "x",
    { do: "throw" },
    { attempts: 2, backoff: { type: "mine" }, ...opts },
  );
  await until("an attempt failed", () => told.length > 0);
  worker.pause();
  return { bench, queue, id, told };
}

describe("a backoff of one's own", () => {
  test("is asked with the attempt, the type, the error and the job", async () => {
    const asked: unknown[] = [];
    const strategy: Strategy = (attempt, type, error, job) => {
      asked.push([
        attempt,
        type,
        error.message,
        job.id,
        job.data,
        job.attemptsMade,
        job.opts.backoff,
      ]);
      return 3_600_000;
    };
    const backoff = { type: "mine", delay: 7, jitter: 0 };
    const { queue, id, told } = await failOnce(strategy, { backoff });
    expect(asked).toEqual([[1, "mine", "boom", id, { do: "throw" }, 0, backoff]]);
    expect(told).toEqual([[true, "boom"]]);
    const job = await queue.getJob(id);
    expect(await job?.getState()).toBe("delayed");
    expect(job).toMatchObject({ delay: 3_600_000, attemptsMade: 1 });
  });

  test.each([
    ["0 at once", 0, "completed", 0],
    ["a fraction, rounded", 3_600_000.4, "delayed", 3_600_000],
    ["more than a day", DAY * 2, "delayed", DAY * 2],
    ["the most", TEN_YEARS, "delayed", TEN_YEARS],
    ["a promise", Promise.resolve(60_000), "delayed", 60_000],
  ])("may give %s", async (_what, given, state, delay) => {
    let runs = 0;
    const bench = await open();
    const queue = bench.queue();
    const settings = { backoffStrategy: () => given };
    bench.worker(
      () => {
        runs += 1;
        if (runs === 1) throw new Error("boom");
      },
      { settings },
    );
    const { id } = await queue.add("x", 1, { attempts: 2, backoff: { type: "mine" } });
    await until("it is there", async () => (await queue.getJobState(id)) === state);
    expect(await queue.getJob(id)).toMatchObject({
      delay,
      attemptsMade: state === "delayed" ? 1 : 2,
    });
  });

  test("is shortened by the job's jitter", async () => {
    const backoff = { type: "mine", jitter: 1 };
    const { queue, id } = await failOnce(() => TEN_YEARS, { backoff });
    const delay = (await queue.getJob(id))?.delay ?? Number.NaN;
    expect(delay).toBeGreaterThanOrEqual(0);
    expect(delay).toBeLessThan(TEN_YEARS);
  });

  const thrower = (thrown: unknown) => () => {
    throw thrown;
  };
  const unreadable = Object.defineProperty(new Error("x"), "message", { get: thrower(null) });
  // biome-ignore lint/suspicious/noThenProperty: what looks like a promise is what is tested
  const thenable = (then: unknown): unknown => Object.fromEntries([["then", then]]);
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  test.each([
    ["throws an error", thrower(new Error("why")), /^boom \(no retry: why\)$/],
    ["throws null", thrower(null), /no retry: .*null/],
    ["throws a circular object", thrower(circular), /no retry: /],
    ["throws what cannot be read", thrower(unreadable), /no retry: /],
    ["rejects", () => Promise.reject(new Error("why")), /no retry: why/],
    ["rejects with undefined", () => Promise.reject(undefined), /no retry: .*undefined/],
    ["gives NaN", () => Number.NaN, /the backoff strategy gave NaN for type "mine"/],
    ["gives -1", () => -1, /gave -1 for type "mine", no number of ms from 0 to 315360000000/],
    ["gives infinity", () => Number.POSITIVE_INFINITY, /gave Infinity/],
    ["gives too much", () => TEN_YEARS + 1, /gave 315360000001/],
    ["gives text", () => "5", /gave "5"/],
    ["gives nothing, as for a name it does not know", () => undefined, /gave undefined/],
    ["gives a promise of NaN", async () => Number.NaN, /gave NaN/],
    ["gives an object that only looks like a promise", () => thenable(5), /gave an object/],
    [
      "gives what throws when it is awaited",
      () => thenable(thrower(new Error("why"))),
      /no retry: why/,
    ],
    ["is not there", undefined, /unknown backoff type "mine": no settings\.backoffStrategy here/],
  ])("that %s fails the job, once, with the reason", async (_what, strategy, reason) => {
    const { queue, id, told } = await failOnce(strategy);
    await until("it failed", async () => (await queue.getJobState(id)) === "failed");
    const job = await queue.getJob(id);
    expect(job?.failedReason).toMatch(/^boom \(no retry: /);
    expect(job?.failedReason).toMatch(reason);
    expect(job).toMatchObject({ attemptsMade: 1 });
    expect(job?.stacktrace.length).toBe(1);
    expect(told).toEqual([[false, job?.failedReason]]);
    expect(await queue.doctor()).toMatchObject({ ok: true });
  });

  test("that never answers fails the job in the end", async () => {
    const { queue, id } = await failOnce(() => new Promise(() => undefined));
    expect((await queue.getJob(id))?.failedReason).toMatch(/strategy took longer than 5000 ms/);
  });

  test("is not asked when no attempt is left, or none is wanted", async () => {
    let asked = 0;
    const strategy: Strategy = () => {
      asked += 1;
      return 0;
    };
    await failOnce(strategy, { attempts: 1 });
    await failOnce(strategy, {}, () => {
      throw Object.assign(new Error("never"), { name: "UnrecoverableError" });
    });
    const { bench, queue } = await failOnce(strategy, { attempts: 1 });
    const late = await queue.add("x", 1, { attempts: 5, backoff: { type: "mine" } });
    await late.cancel();
    bench.worker(boom, { settings: { backoffStrategy: strategy } });
    await until("it is cancelled", async () => (await late.getState()) === "failed");
    expect(asked).toBe(0);
  });

  test("is asked for a result that cannot be stored, and for a run that took too long", async () => {
    const reasons: string[] = [];
    const strategy: Strategy = (_attempt, _type, error) => {
      reasons.push(error.message);
      return Promise.resolve(3_600_000);
    };
    const bad = await failOnce(strategy, {}, () => 1n as unknown);
    expect(await bad.queue.getJobState(bad.id)).toBe("delayed");
    const slow = await failOnce(strategy, { timeout: 20 }, () => new Promise(() => undefined));
    expect(await slow.queue.getJobState(slow.id)).toBe("delayed");
    expect(reasons).toEqual([
      expect.stringMatching(/result: is not JSON/),
      "the run took longer than 20 ms",
    ]);
  });

  test("is given an error whatever was thrown", async () => {
    const errors: Error[] = [];
    const strategy: Strategy = (_attempt, _type, error) => {
      errors.push(error);
      return 3_600_000;
    };
    await failOnce(strategy, {}, () => {
      throw "plain text";
    });
    expect(errors[0]).toBeInstanceOf(Error);
    expect(errors[0]).toMatchObject({ message: "plain text", cause: "plain text" });
  });

  test("works for a job that is fetched by hand", async () => {
    const bench = await open();
    const queue = bench.queue();
    const strategy: Strategy = (attempt) => (attempt === 1 ? 0 : Number.NaN);
    const worker = bench.worker(null, { settings: { backoffStrategy: strategy } });
    const { id } = await queue.add("x", 1, { attempts: 5, backoff: { type: "mine" } });
    await (await worker.getNextJob())?.moveToFailed(new Error("first"));
    expect(await queue.getJobState(id)).toBe("waiting");
    await (await worker.getNextJob())?.moveToFailed(new Error("second"));
    const job = await queue.getJob(id);
    expect(await job?.getState()).toBe("failed");
    expect(job?.failedReason).toMatch(/^second \(no retry: the backoff strategy gave NaN/);
  });

  test("works for a handler in a thread, on the worker's side", async () => {
    const file = new URL("../support/processors/steps.cjs", import.meta.url);
    const asked: string[] = [];
    const strategy: Strategy = (_attempt, _type, error) => {
      asked.push(error.message);
      return 3_600_000;
    };
    const { queue, id } = await failOnce(strategy, {}, file);
    expect(await queue.getJobState(id)).toBe("delayed");
    expect(asked).toEqual(["thrown in the thread"]);
  });

  test("takes a function written for BullMQ", () => {
    const theirs = (n: number, type: string, err: Error, job: Job<{ to: string }>): number =>
      n * type.length + err.message.length + job.data.to.length;
    const short = (n: number, type?: string): number => n * (type?.length ?? 1);
    const settings: AdvancedOptions = { backoffStrategy: theirs };
    expectTypeOf(settings.backoffStrategy).not.toBeUndefined();
    expectTypeOf(short).toExtend<Strategy>();
  });

  test("of a job that another program stored is asked for too", async () => {
    const bench = await open();
    const queue = bench.queue();
    const { id } = await queue.add("x", 1, { attempts: 2 });
    const opts = JSON.stringify({ attempts: 2, backoff: { type: "theirs", delay: "soon" } });
    await bench.client.hset(bench.key(`job:${id}`), "opts", opts);
    const asked: string[] = [];
    const settings: AdvancedOptions = {
      backoffStrategy: (_attempt, type) => {
        asked.push(type);
        return 3_600_000;
      },
    };
    bench.worker(boom, { settings });
    await until("it is delayed", async () => (await queue.getJobState(id)) === "delayed");
    expect(asked).toEqual(["theirs"]);
  });
});
