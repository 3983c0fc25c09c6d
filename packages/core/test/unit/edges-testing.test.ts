import { describe } from "vitest";
import { createFakeClock, drainQueue } from "../../src/testing/index.js";
import {
  FLAG,
  MOMENT,
  queue as queueName,
  recordEdges,
  testEdges,
  whole,
} from "../support/edges.js";

const connection = "redis://127.0.0.1:1";
const accepted = async (outcome: () => Promise<unknown>): Promise<void> => void (await outcome());
const TEN_YEARS = 315_360_000_000;
const LATEST = 8_640_000_000_000_000 - TEN_YEARS;
const none = { good: [undefined], bad: [] };

describe("a fake clock", () => {
  testEdges(
    [
      {
        what: "start",
        give: (value) => createFakeClock(value),
        option: "start",
        values: {
          good: [...MOMENT.good, undefined, LATEST],
          bad: [...MOMENT.bad, LATEST + 1, new Date(LATEST + 1)],
        },
      },
      {
        what: "advance",
        give: (value) => createFakeClock(0).advance(value),
        option: "ms",
        values: whole(0, TEN_YEARS, true),
      },
      {
        what: "advance beyond time",
        give: (value) => createFakeClock(LATEST).advance(value),
        option: "ms",
        values: { good: [0], bad: [1] },
      },
      {
        what: "advanceTo",
        give: (value) => createFakeClock(0).advanceTo(value),
        option: "time",
        values: { good: MOMENT.good, bad: [undefined, ...MOMENT.bad] },
      },
      {
        what: "advanceTo what is past",
        give: (value) => createFakeClock(1_000).advanceTo(value),
        option: "time",
        values: { good: [1_000], bad: [999, 0, new Date(999)] },
      },
      {
        what: "connection",
        give: (value) => createFakeClock().connection(value),
        option: "connection",
        values: { good: [connection], bad: [undefined, null, "", "localhost", 5, []] },
      },
    ],
    accepted,
  );
});

describe("drainQueue", () => {
  const drain = (options: never) => drainQueue({ name: "q", connection }, null as never, options);
  testEdges(
    [
      ...recordEdges(
        "queue",
        "queue",
        (queue) => drainQueue(queue, () => 1),
        { name: { good: [], bad: queueName().bad } },
        { sample: { connection }, required: true },
      ).map((edge) => ({ ...edge, values: { ...edge.values, good: [] } })),
      // The options are looked at before the processor: nothing here gets as far as a server.
      ...recordEdges("options", "options", drain, {
        delayed: { ...none, bad: FLAG.bad },
        limit: { ...none, bad: whole(1, Number.MAX_SAFE_INTEGER).bad },
      }).map((edge) => ({ ...edge, values: { ...edge.values, good: [] } })),
      ...["autorun", "claimAhead", "name", "metrics", "connection"].map((key) => ({
        what: `options.${key}`,
        give: (value: never) => drain({ [key]: value } as never),
        option: `options.${key}`,
        values: { good: [], bad: [true, 5, undefined] },
      })),
    ],
    accepted,
  );
});
