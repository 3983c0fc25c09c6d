import { afterAll, describe } from "vitest";
import { QueueEvents, QueueEventsProducer } from "../../src/index.js";
import {
  FLAG,
  name,
  queue as queueName,
  recordEdges,
  testEdges,
  throwing,
  untilClosed,
  whole,
} from "../support/edges.js";

const connection = "redis://127.0.0.1:1";
const accepted = async (outcome: () => Promise<unknown>): Promise<void> => void (await outcome());
const CONNECTION = {
  commandTimeout: whole(100, 3_600_000),
  retryTime: whole(0, 86_400_000),
  v1Prefixes: { good: [undefined, [], ["bull"]], bad: [null, "bull", 5, {}] },
};

describe("options of a QueueEvents", () => {
  testEdges(
    [
      {
        what: "the name",
        give: (value) => new QueueEvents(value, { connection, autorun: false }).close(),
        option: "queue",
        values: queueName(),
      },
      ...recordEdges(
        "options",
        "options",
        (options: never) => new QueueEvents("q", options).close(),
        {
          ...CONNECTION,
          lastEventId: {
            good: [undefined, "$", "0", "0-0", "1-1:0", `${"9".repeat(15)}-1:999999999`],
            bad: [null, 5, "", "x", "1:1:1", "-1", "1-", "1.5", `${"9".repeat(17)}-1`, {}, []],
          },
          autorun: { good: [false], bad: FLAG.bad },
        },
        { sample: { connection, autorun: false }, required: true, bare: true },
      ),
    ],
    accepted,
  );
});

describe("options of a QueueEventsProducer", () => {
  testEdges(
    [
      {
        what: "the name",
        give: (value) => new QueueEventsProducer(value, { connection }).close(),
        option: "queue",
        values: queueName(),
      },
      ...recordEdges(
        "options",
        "options",
        (options: never) => new QueueEventsProducer("q", options).close(),
        CONNECTION,
        { sample: { connection }, required: true, bare: true },
      ),
    ],
    accepted,
  );
});

describe("publishEvent", () => {
  const producer = new QueueEventsProducer("q", { connection });
  const closed = producer.close();
  afterAll(() => closed);
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const taken = ["completed", "error", "ready", "gap", "closed", "deduplicated", "newListener"];
  testEdges(
    [
      {
        what: "an event",
        give: (value) => producer.publishEvent(value),
        option: "event",
        values: {
          good: [{ eventName: "x" }, { eventName: "x", a: undefined, b: [1] }],
          bad: [undefined, null, 5, "x", throwing("a", { eventName: "x" })],
        },
      },
      {
        what: "eventName",
        give: (eventName) => producer.publishEvent({ eventName } as never),
        option: "eventName",
        values: { ...name(), bad: [...name().bad, ...taken] },
      },
      {
        what: "a payload",
        give: (a) => producer.publishEvent({ eventName: "x", a } as never),
        option: "event",
        values: {
          good: [0, "x", null, { deep: [1] }, "x".repeat(59_990)],
          bad: [1n, Number.NaN, () => 1, circular, "x".repeat(60_000), "é".repeat(30_000)],
        },
      },
    ],
    untilClosed,
  );
});
