import { afterAll, describe } from "vitest";
import { DelayedError, RateLimitError, Worker, type WorkerOptions } from "../../src/index.js";
import {
  type Edge,
  FLAG,
  FUNCTION,
  name,
  oneOf,
  queue as queueName,
  recordEdges,
  testEdges,
  untilClosed,
  whole,
} from "../support/edges.js";

const connection = "redis://127.0.0.1:1";
const TEN_YEARS = 315_360_000_000;
const DAYS_24 = 2_073_600_000;
const DAY = 86_400_000;
const SAFE = Number.MAX_SAFE_INTEGER;

const make = (options: never): Promise<void> =>
  new Worker("q", () => 1, { autorun: false, ...(options as WorkerOptions) }).close();
const accepted = async (outcome: () => Promise<unknown>): Promise<void> => void (await outcome());
const under = (key: string) => (value: never) => make({ connection, [key]: value } as never);

const worker = new Worker("q", null, { connection, autorun: false });
const closed = worker.close();
afterAll(() => closed);

const retention = {
  good: [true, false, 0, 1, SAFE, { count: 0 }, { age: 1 }, undefined],
  bad: [null, "", "all", -1, 1.5, Number.NaN, SAFE + 1, [], 5n, {}, { count: undefined }],
};

describe("options of a worker", () => {
  const nested = { good: [undefined], bad: [null, 5, "x", [], true] };
  testEdges(
    [
      ...[undefined, 5, "no-such-file.js", {}, [], true, new URL("http://h/x.js")].map(
        (handler): Edge => ({
          what: `the handler ${String(handler)}`,
          give: () => new Worker("q", handler as never, { connection, autorun: false }).close(),
          option: "handler",
          values: { good: [], bad: [0] },
        }),
      ),
      {
        what: "the name",
        give: (value) => new Worker(value, null, { connection, autorun: false }).close(),
        option: "queue",
        values: queueName(),
      },
      ...recordEdges(
        "options",
        "options",
        // A spread would read what refuses to be read.
        (options: never) => new Worker("q", null, options).close(),
        {
          commandTimeout: whole(100, 3_600_000),
          retryTime: whole(0, DAY),
          concurrency: whole(1, 10_000),
          lockDuration: whole(100, DAY),
          stalledInterval: whole(100, DAY),
          maxStalledCount: whole(0, 1_000),
          jobTimeout: whole(1, DAYS_24),
          limiter: nested,
          resourceLimits: { good: [undefined, {}], bad: nested.bad },
          settings: { good: [undefined, {}], bad: nested.bad },
          autorun: { good: [false], bad: FLAG.bad },
          busyWait: FLAG,
          removeOnComplete: retention,
          removeOnFail: retention,
          claimAhead: {
            good: [...whole(0, 64).good, "auto"],
            bad: [...whole(0, 64).bad, "Auto", "none"],
          },
          maxDataSize: whole(1, 52_428_800),
          deadLetter: nested,
          serializer: { good: [undefined], bad: [null, 5, "json", true] },
          name: name(false),
          metrics: nested,
        },
        { sample: { connection, autorun: false }, required: true, bare: true },
      ),
      ...recordEdges(
        "limiter",
        "limiter",
        under("limiter"),
        {
          max: whole(1, 1_000_000_000, true),
          duration: whole(1, DAYS_24, true),
          scope: oneOf(["queue", "worker"]),
        },
        { sample: { max: 1, duration: 1 } },
      ).map(completed),
      ...recordEdges("resourceLimits", "resourceLimits", under("resourceLimits"), {
        maxOldGenerationSizeMb: whole(1, 1_048_576),
        maxYoungGenerationSizeMb: whole(1, 1_048_576),
        codeRangeSizeMb: whole(1, 1_048_576),
        stackSizeMb: whole(1, 1_048_576),
      }),
      ...recordEdges("settings", "settings", under("settings"), { backoffStrategy: FUNCTION }),
      ...recordEdges(
        "deadLetter",
        "deadLetter",
        under("deadLetter"),
        { queue: queueName() },
        { sample: { queue: "q2" } },
      ),
      ...recordEdges(
        "metrics",
        "metrics",
        under("metrics"),
        { maxDataPoints: whole(1, 525_600, true) },
        { sample: { maxDataPoints: 1 } },
      ),
    ],
    accepted,
  );

  /** `undefined` for each key leaves a limiter without what it needs. */
  function completed(edge: Edge): Edge {
    return edge.what === "limiter itself"
      ? { ...edge, values: { ...edge.values, good: [{ max: 1, duration: 1, scope: undefined }] } }
      : edge;
  }
});

describe("verbs of a worker", () => {
  const number = (what: string, option: string, give: Edge["give"], values: Edge["values"]) => ({
    what,
    option,
    give,
    values,
  });
  testEdges(
    [
      number("cancelJob", "id", (value) => worker.cancelJob(value), name()),
      number("cancelJob reason", "reason", (value) => worker.cancelJob("x", value), {
        good: [undefined, "", "why"],
        bad: [null, 5, {}, "x".repeat(4_097)],
      }),
      number("rateLimit", "ms", (value) => worker.rateLimit(value), whole(0, DAYS_24, true)),
      number("getNextJob", "token", (value) => worker.getNextJob(value), name(false)),
      ...recordEdges(
        "getNextJob options",
        "options",
        (options) => worker.getNextJob("x", options),
        { block: FLAG, timeout: whole(1, DAYS_24), renew: FLAG },
      ),
    ],
    untilClosed,
  );
});

describe("what takes effect at once", () => {
  testEdges(
    [
      {
        what: "concurrency",
        give: (value) => {
          worker.concurrency = value;
        },
        option: "concurrency",
        values: whole(1, 10_000, true),
      },
      ...recordEdges("close", "options", (options) => worker.close(options), {
        timeout: whole(0, DAY),
      }),
      {
        what: "DelayedError",
        give: (value) => void new DelayedError(value),
        option: "delay",
        values: whole(0, TEN_YEARS),
      },
      {
        what: "RateLimitError",
        give: (value) => void new RateLimitError(value),
        option: "delay",
        values: whole(1, DAYS_24),
      },
    ],
    accepted,
  );
});
