import { afterAll, describe } from "vitest";
import { LazySession } from "../../src/connection/lazy.js";
import { Job, Queue, QueueEvents } from "../../src/index.js";
import { FLAG, name, oneOf, recordEdges, testEdges, untilClosed, whole } from "../support/edges.js";

const connection = "redis://127.0.0.1:1";
const session = new LazySession("q", { connection });
const job = new Job({ id: "1", queue: "q", fields: {} }, session);
const events = new QueueEvents("q", { connection, autorun: false });
const others = new QueueEvents("other", { connection, autorun: false });
const queue = new Queue("q", { connection });
const closed = Promise.all([session, events, others, queue].map((one) => one.close()));
afterAll(() => closed);

const TIMER = 2_147_483_647;
const circular: Record<string, unknown> = {};
circular.self = circular;
const throwing = {
  toJSON: () => {
    throw null;
  },
};
const trap = new Proxy(
  {},
  {
    get: () => {
      throw Object.defineProperty(new Error(), "message", {
        get: () => {
          throw null;
        },
      });
    },
  },
);
const NO_JSON = [circular, 1n, { a: [1n] }, () => 1, { a: () => 1 }, Symbol("x"), throwing, trap];
const NO_NUMBER = [Number.NaN, { a: Number.POSITIVE_INFINITY }];
const data = {
  good: [undefined, null, 0, "", [], {}, { a: undefined }, new Date()],
  bad: [...NO_JSON, ...NO_NUMBER, "x".repeat(52_428_799)],
};
const NO_EVENTS = [undefined, null, 5, "x", {}, [], job];

describe("methods of a job", () => {
  testEdges(
    [
      {
        what: "updateData",
        give: (value) => job.updateData(value),
        option: "data",
        values: data,
      },
      {
        what: "updateProgress",
        give: (value) => job.updateProgress(value),
        option: "progress",
        values: { good: [0, 100, "half", null, { a: 1 }], bad: [undefined, ...data.bad] },
      },
      {
        what: "log",
        give: (value) => job.log(value),
        option: "line",
        values: {
          good: ["", "x", "a\nb", "x".repeat(65_536), "é".repeat(32_768)],
          bad: [undefined, null, 5, {}, [], "x".repeat(65_537), "é".repeat(32_769)],
        },
      },
      {
        what: "getLogs start",
        give: (value) => job.getLogs(value),
        option: "start",
        values: whole(0, 1_000_000_000),
      },
      {
        what: "getLogs end",
        give: (value) => job.getLogs(0, value),
        option: "end",
        values: whole(-1, 1_000_000_000),
      },
      {
        what: "getLogs asc",
        give: (value) => job.getLogs(0, 1, value),
        option: "asc",
        values: FLAG,
      },
      {
        what: "retry",
        give: (value) => job.retry(value),
        option: "state",
        values: oneOf(["failed", "completed"]),
      },
      ...recordEdges("retry options", "options", (value) => job.retry("failed", value), {
        resetAttempts: FLAG,
      }),
      {
        what: "changeDelay",
        give: (value) => job.changeDelay(value),
        option: "delay",
        values: whole(0, 315_360_000_000, true),
      },
      ...recordEdges(
        "changePriority",
        "options",
        (value) => job.changePriority(value),
        { priority: whole(0, 2_097_151), lifo: FLAG },
        { required: true },
      ),
      {
        what: "cancel",
        give: (value) => job.cancel(value),
        option: "reason",
        values: { good: [undefined, "", "why"], bad: [null, 5, {}, "x".repeat(4_097)] },
      },
      {
        what: "waitUntilFinished timeout",
        give: (value) => job.waitUntilFinished(events, value),
        option: "timeout",
        values: whole(1, TIMER, true),
      },
      {
        what: "waitUntilFinished events",
        give: (value) => job.waitUntilFinished(value, 5),
        option: "events",
        values: { good: [events], bad: [...NO_EVENTS, others] },
      },
    ],
    untilClosed,
  );
});

describe("addAndWait", () => {
  const wait = (value: never): Promise<unknown> => queue.addAndWait("x", {}, undefined, value);
  const edges = recordEdges(
    "wait",
    "wait",
    wait,
    {
      timeout: whole(1, TIMER, true),
      events: { good: [events], bad: [...NO_EVENTS, others] },
    },
    { sample: { timeout: 5, events }, required: true },
  );
  // What it is told by name is the same as with `waitUntilFinished`.
  const bare = edges.map((edge) =>
    edge.what === "wait.timeout" || edge.what === "wait.events"
      ? { ...edge, option: edge.what.slice(5) }
      : edge,
  );
  testEdges(bare, untilClosed);
});

describe("data of a job that is added", () => {
  testEdges(
    [{ what: "add", give: (value) => queue.add("x", value), option: "data", values: data }],
    untilClosed,
  );
});

describe("a job by a name", () => {
  testEdges(
    [
      {
        what: "addAndWait name",
        give: (value) => queue.addAndWait(value, {}, undefined, { timeout: 5, events }),
        option: "name",
        values: { good: [], bad: [] },
      },
      { what: "add name", give: (value) => queue.add(value, {}), option: "name", values: name() },
    ],
    untilClosed,
  );
});
