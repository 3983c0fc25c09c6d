import { afterAll, describe } from "vitest";
import { Queue, type QueueOptions } from "../../src/index.js";
import {
  type Edge,
  ELSEWHERE,
  FLAG,
  MOMENT,
  name,
  oneOf,
  queue as queueName,
  recordEdges,
  testEdges,
  throwing,
  untilClosed,
  whole,
} from "../support/edges.js";

const connection = "redis://127.0.0.1:1";
const queue = new Queue("q", { connection });
const closed = queue.close();
afterAll(() => closed);

const TEN_YEARS = 315_360_000_000;
const DAYS_24 = 2_073_600_000;
const SAFE = Number.MAX_SAFE_INTEGER;
const BILLION = 1_000_000_000;

const retention = {
  good: [true, false, 0, 1, SAFE, { count: 0 }, { age: 1 }, { count: 1, age: undefined }],
  bad: [null, "", "all", -1, 1.5, Number.NaN, SAFE + 1, [], 5n, {}, { count: undefined }],
};
const JOB_OPTIONS = {
  jobId: name(false),
  delay: whole(0, TEN_YEARS),
  runAt: { good: [...MOMENT.good, undefined], bad: [...MOMENT.bad, Date.now() + 2 * TEN_YEARS] },
  priority: whole(0, 2_097_151),
  attempts: whole(1, 1_000_000),
  backoff: {
    good: [0, 1, TEN_YEARS, undefined, { type: "fixed", delay: 0 }, { type: "mine" }],
    bad: [null, "", "fixed", -1, 1.5, Number.NaN, TEN_YEARS + 1, [], 5n],
  },
  timeout: whole(1, DAYS_24),
  ttl: whole(1, DAYS_24),
  deduplication: { good: [undefined, { id: "x" }], bad: [null, "x", 1, []] },
  deadLetter: { good: [undefined, { queue: "q2" }], bad: [null, "q2", 1, []] },
  keepLogs: whole(1, 100_000),
  lifo: FLAG,
  removeOnComplete: retention,
  removeOnFail: retention,
};
const { jobId: _jobId, ...DEFAULTS } = JOB_OPTIONS;

/** Options of jobs, as whoever takes them spells their place. */
function jobOptionEdges(what: string, at: string, give: (opts: never) => unknown): Edge[] {
  const under = (key: string) => (value: never) => give({ [key]: value } as never);
  const backoff = recordEdges(
    `${what}.backoff`,
    `${at}.backoff`,
    under("backoff"),
    {
      type: {
        good: ["fixed", "exponential", "linear", "mixed", "x".repeat(512)],
        bad: [...name().bad, "Fixed", "EXPONENTIAL", "exponental"],
      },
      delay: whole(0, TEN_YEARS, true),
      jitter: {
        good: [0, 0.5, 1, undefined],
        bad: [-0.1, 1.1, Number.NaN, Number.POSITIVE_INFINITY, null, "0.5", true, {}, [], 1n],
      },
    },
    { sample: { type: "exponential", delay: 1 } },
  );
  return [
    ...recordEdges(what, at, give, at === "opts" ? JOB_OPTIONS : DEFAULTS),
    // A number is a backoff too.
    ...backoff.map((edge) => (edge.what.endsWith("itself") ? without(edge, [0, 5]) : edge)),
    {
      what: `${what}.backoff of one's own without delay`,
      give: (delay: never) => give({ backoff: { type: "mine", delay } } as never),
      option: `${at}.backoff.delay`,
      values: whole(0, TEN_YEARS),
    },
    ...recordEdges(
      `${what}.deduplication`,
      `${at}.deduplication`,
      under("deduplication"),
      {
        id: name(),
        ttl: whole(1, TEN_YEARS),
        extend: FLAG,
        replace: FLAG,
        keepLastIfActive: FLAG,
      },
      { sample: { id: "x", ttl: 5 } },
    ),
    ...recordEdges(
      `${what}.deadLetter`,
      `${at}.deadLetter`,
      under("deadLetter"),
      { queue: queueName() },
      { sample: { queue: "q2" } },
    ),
    ...["removeOnComplete", "removeOnFail"].flatMap((key) =>
      recordEdges(
        `${what}.${key}`,
        `${at}.${key}`,
        under(key),
        { count: whole(0, SAFE), age: whole(1, TEN_YEARS / 1_000) },
        { sample: { count: 1, age: 1 } },
      ).map((edge) => (edge.what.endsWith("itself") ? without(edge, [0, 5, true]) : edge)),
    ),
  ];
}

function without(edge: Edge, values: readonly unknown[]): Edge {
  const bad = edge.values.bad.filter((value) => !values.includes(value));
  return { ...edge, values: { ...edge.values, bad } };
}

describe("jobs that are added", () => {
  testEdges(
    [
      { what: "name", give: (value) => queue.add(value, {}), option: "name", values: name() },
      ...jobOptionEdges("opts of add", "opts", (opts) => queue.add("x", {}, opts)),
      ...jobOptionEdges("opts of addBulk", "jobs[0].opts", (opts) =>
        queue.addBulk([{ name: "x", data: {}, opts }]),
      ),
      {
        what: "jobs of addBulk",
        give: (value) => queue.addBulk(value),
        option: "jobs",
        values: { good: [[]], bad: [undefined, null, {}, "", "jobs", 5, new Set()] },
      },
      {
        what: "holes of addBulk",
        give: (value) => queue.addBulk(value),
        option: "jobs[0]",
        values: { good: [], bad: [new Array(1), [undefined], [null], [5], ["x"], [[]]] },
      },
      ...recordEdges(
        "a job of addBulk",
        "jobs[0]",
        (value) => queue.addBulk([value]),
        { data: ELSEWHERE, opts: ELSEWHERE },
        { sample: { name: "x" }, required: true },
      ),
    ],
    untilClosed,
  );
});

describe("verbs of a queue", () => {
  const id = (what: string, give: (value: never) => unknown): Edge => ({
    what,
    give,
    option: "id",
    values: name(),
  });
  const number = (
    what: string,
    option: string,
    give: (value: never) => unknown,
    values: Edge["values"],
  ): Edge => ({ what, give, option, values });
  const place = whole(0, BILLION);
  const last = whole(-1, BILLION);
  const states = {
    good: [undefined, [], "waiting", "wait", ["failed", "failed"]],
    bad: [null, "", "paused", "x", 5, {}, [undefined], [null], [["failed"]], new Array(1)],
  };
  const ranges: Edge[] = (
    [
      "getWaiting",
      "getPrioritized",
      "getDelayed",
      "getActive",
      "getCompleted",
      "getFailed",
    ] as const
  ).flatMap((verb) => [
    number(`${verb} start`, "start", (value) => queue[verb](value), place),
    number(`${verb} end`, "end", (value) => queue[verb](0, value), last),
  ]);
  testEdges(
    [
      id("getJob", (value) => queue.getJob(value)),
      id("getJobState", (value) => queue.getJobState(value)),
      id("getJobLogs", (value) => queue.getJobLogs(value)),
      id("getDeduplicationJobId", (value) => queue.getDeduplicationJobId(value)),
      id("removeDeduplicationKey", (value) => queue.removeDeduplicationKey(value)),
      id("remove", (value) => queue.remove(value)),
      id("cancel", (value) => queue.cancel(value)),
      {
        what: "cancel reason",
        give: (value) => queue.cancel("x", value),
        option: "reason",
        values: {
          good: ["", "why", "é".repeat(2_048), undefined],
          bad: [null, 5, {}, [], "x".repeat(4_097), "é".repeat(2_049), Symbol("x")],
        },
      },
      number("setMaxLength", "most", (value) => queue.setMaxLength(value), {
        good: [null, 1, SAFE],
        bad: whole(1, SAFE, true).bad.filter((value) => value !== null),
      }),
      number("setGlobalConcurrency", "concurrency", (value) => queue.setGlobalConcurrency(value), {
        good: [null, 1, BILLION],
        bad: whole(1, BILLION, true).bad.filter((value) => value !== null),
      }),
      number(
        "setGlobalRateLimit max",
        "max",
        (value) => queue.setGlobalRateLimit(value, 1),
        whole(1, BILLION, true),
      ),
      number(
        "setGlobalRateLimit duration",
        "duration",
        (value) => queue.setGlobalRateLimit(1, value),
        whole(1, DAYS_24, true),
      ),
      number("rateLimit", "ms", (value) => queue.rateLimit(value), whole(0, DAYS_24, true)),
      number(
        "getRateLimitTtl",
        "maxJobs",
        (value) => queue.getRateLimitTtl(value),
        whole(1, BILLION),
      ),
      number("getJobs states", "states", (value) => queue.getJobs(value), states),
      number("getJobs start", "start", (value) => queue.getJobs("failed", value), place),
      number("getJobs end", "end", (value) => queue.getJobs("failed", 0, value), last),
      number("getJobs asc", "asc", (value) => queue.getJobs("failed", 0, 1, value), FLAG),
      ...ranges,
      number("getJobCounts", "states", (value) => queue.getJobCounts(value), {
        good: ["waiting", "wait"],
        bad: ["", "paused", "x", null, 5, {}],
      }),
      number("getJobCountByTypes", "states", (value) => queue.getJobCountByTypes(value), {
        good: ["waiting", "wait"],
        bad: ["", "paused", "x", null, 5, {}],
      }),
      number("getCountsPerPriority", "priorities", (value) => queue.getCountsPerPriority(value), {
        good: [[], [0, 0, 2_097_151]],
        bad: [undefined, null, 5, "1", {}, new Set([1])],
      }),
      number(
        "getCountsPerPriority of one",
        "priorities[0]",
        (value) => queue.getCountsPerPriority([value]),
        whole(0, 2_097_151, true),
      ),
      number(
        "getCountsPerPriority of a hole",
        "priorities[0]",
        (value) => queue.getCountsPerPriority(value),
        { good: [], bad: [new Array(1)] },
      ),
      number("getJobLogs start", "start", (value) => queue.getJobLogs("x", value), place),
      number("getJobLogs end", "end", (value) => queue.getJobLogs("x", 0, value), last),
      number("getJobLogs asc", "asc", (value) => queue.getJobLogs("x", 0, 1, value), FLAG),
      number(
        "getMetrics type",
        "type",
        (value) => queue.getMetrics(value),
        oneOf(["completed", "failed"], true),
      ),
      number("getMetrics start", "start", (value) => queue.getMetrics("failed", value), place),
      number("getMetrics end", "end", (value) => queue.getMetrics("failed", 0, value), last),
      number("labels", "labels", (value) => queue.exportPrometheusMetrics(value), {
        good: [undefined, {}, { region: "eu", none: undefined }],
        bad: [null, 5, "x", [], throwing("a")],
      }),
      number("a label", "labels.a", (value) => queue.exportPrometheusMetrics({ a: value }), {
        good: ["", 'a "b"\n', undefined],
        bad: [null, 5, {}, [], true],
      }),
      ...["queue", "state", "1a", "a-b", "é", ""].map(
        (label): Edge => ({
          what: `the label ${JSON.stringify(label)}`,
          give: (value) => queue.exportPrometheusMetrics({ [label]: value }),
          option: `labels.${label}`,
          values: { good: [], bad: ["x", undefined] },
        }),
      ),
      number("clean grace", "grace", (value) => queue.clean(value, 0), whole(0, TEN_YEARS, true)),
      number("clean limit", "limit", (value) => queue.clean(0, value), whole(0, BILLION, true)),
      number(
        "clean type",
        "type",
        (value) => queue.clean(0, 0, value),
        oneOf(["completed", "failed", "delayed", "waiting", "prioritized", "wait"]),
      ),
      number("drain", "delayed", (value) => queue.drain(value), FLAG),
      ...recordEdges("retryJobs", "options", (value) => queue.retryJobs(value), {
        state: oneOf(["failed", "completed"]),
        timestamp: whole(0, SAFE),
        count: whole(1, 1_000_000),
        resetAttempts: FLAG,
      }),
      ...recordEdges("promoteJobs", "options", (value) => queue.promoteJobs(value), {
        count: whole(1, 1_000_000),
      }),
      ...recordEdges("obliterate", "options", (value) => queue.obliterate(value), { force: FLAG }),
      ...recordEdges("redrive", "options", (value) => queue.redrive(value), {
        count: whole(1, BILLION),
        to: queueName(false),
      }),
      ...recordEdges("doctor", "options", (value) => queue.doctor(value), {
        fix: FLAG,
        limit: whole(1, 100_000),
      }),
    ],
    untilClosed,
  );
});

describe("options of a queue", () => {
  const make = (options: never): Promise<void> => new Queue("q", options as QueueOptions).close();
  const accepted = async (outcome: () => Promise<unknown>): Promise<void> => void (await outcome());
  const standard = { "~standard": { version: 1, vendor: "x", validate: () => ({ value: 1 }) } };
  const serializer = { serialize: () => "x", deserialize: () => 1 };
  testEdges(
    [
      ...recordEdges(
        "options",
        "options",
        make,
        {
          commandTimeout: whole(100, 3_600_000),
          retryTime: whole(0, 86_400_000),
          v1Prefixes: {
            good: [undefined, [], ["bull"], new Array(100).fill("p")],
            bad: [null, "bull", 5, {}, new Array(101).fill("p")],
          },
          maxDataSize: whole(1, 52_428_800),
          defaultJobOptions: ELSEWHERE,
          streams: ELSEWHERE,
          schemas: {
            good: [undefined, {}, { a: standard }, { a: Object.assign(() => 1, standard) }],
            bad: [null, 5, "x", []],
          },
          serializer: {
            good: [undefined, serializer],
            bad: [null, 5, "json", () => 1],
          },
        },
        { sample: { connection }, required: true, bare: true },
      ),
      ...jobOptionEdges("defaultJobOptions", "defaultJobOptions", (defaultJobOptions) =>
        make({ connection, defaultJobOptions } as never),
      ),
      {
        what: "defaultJobOptions.jobId",
        give: (jobId) => make({ connection, defaultJobOptions: { jobId } } as never),
        option: "defaultJobOptions.jobId",
        values: { good: [], bad: ["x", undefined] },
      },
      {
        what: "a v1 prefix",
        give: (one) => make({ connection, v1Prefixes: [one] } as never),
        option: "v1Prefixes[0]",
        values: name(),
      },
      {
        what: "a schema",
        give: (a) => make({ connection, schemas: { a } } as never),
        option: "schemas.a",
        values: {
          good: [standard],
          bad: [undefined, null, 5, {}, () => 1, throwing("~standard"), { "~standard": null }],
        },
      },
      {
        what: "schemas whose getter throws",
        give: (schemas) => make({ connection, schemas } as never),
        option: "schemas.a",
        values: { good: [], bad: [throwing("a")] },
      },
      ...recordEdges("streams", "streams", (streams) => make({ connection, streams } as never), {
        events: { good: [undefined, {}], bad: [null, 5, "x", [], true] },
      }),
      ...recordEdges(
        "streams.events",
        "streams.events",
        (events) => make({ connection, streams: { events } } as never),
        { maxLen: whole(0, BILLION) },
      ),
      ...["serialize", "deserialize"].map(
        (key): Edge => ({
          what: `serializer.${key}`,
          give: (one) => make({ connection, serializer: { ...serializer, [key]: one } } as never),
          option: `serializer.${key}`,
          values: { good: [() => "x"], bad: [undefined, null, "x", 5, {}] },
        }),
      ),
      {
        what: "serializer whose getter throws",
        give: (one) => make({ connection, serializer: one } as never),
        option: "serializer.serialize",
        values: { good: [], bad: [throwing("serialize")] },
      },
      ...recordEdges(
        "connection",
        "connection",
        (one) => make({ connection: one } as never),
        {
          host: { good: ["h", "::1"], bad: ["", "a b", "u@h", null, 5, undefined, {}] },
          port: whole(1, 65_535),
          db: whole(0, 1_000_000),
          password: { good: ["", "p", undefined], bad: [null, 5, {}, []] },
          tls: FLAG,
        },
        { sample: { host: "h" }, required: true },
        // Text is a URL, and an object is looked at for what makes a client of it first.
      ).filter(({ what }) => !what.endsWith("itself")),
    ],
    accepted,
  );
});
