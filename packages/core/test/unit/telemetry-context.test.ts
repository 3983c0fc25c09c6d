import { describe, expect, test } from "vitest";
import { fieldsOfPairs, knownOptions } from "../../src/job/fields.js";
import { storedContext, traceContext, withContext } from "../../src/telemetry/context.js";
import { contextOf } from "../support/telemetry.js";

const { traceparent } = contextOf(7);
const tm = (value: unknown): ReturnType<typeof storedContext> =>
  storedContext(fieldsOfPairs(["opts", JSON.stringify({ attempts: 2, tm: value })]));

describe("what goes into a job", () => {
  test.each([
    ["", {}],
    ['{"attempts":3}', { attempts: 3 }],
  ])("stands among its options, and is no option: %j", (stored, known) => {
    const context = { traceparent, tracestate: 'a=1,b="2' };
    const opts = withContext(stored, context);
    const fields = fieldsOfPairs(["opts", opts]);
    expect(storedContext(fields)).toEqual(context);
    expect(knownOptions(fields)).toEqual(known);
  });

  test("is what BullMQ's own telemetry writes and reads", () => {
    const opts = JSON.parse(withContext("", { traceparent }));
    expect(opts).toEqual({ tm: JSON.stringify({ traceparent }) });
    const stored = { tm: false, omc: true, attempts: 0 };
    const fields = fieldsOfPairs(["opts", JSON.stringify(stored)]);
    expect(storedContext(fields)).toBeUndefined();
    expect(knownOptions(fields)).toEqual({ attempts: 0 });
  });

  test("is bounded: 55 characters and a tracestate of 512", () => {
    expect(traceContext({ traceparent, tracestate: "x".repeat(512) })?.tracestate).toHaveLength(
      512,
    );
    expect(traceContext({ traceparent, tracestate: "x".repeat(513) })).toEqual({ traceparent });
    const most = withContext("", { traceparent, tracestate: '"'.repeat(512) });
    expect(most.length).toBeLessThan(2_250);
    expect(storedContext(fieldsOfPairs(["opts", most]))?.tracestate).toHaveLength(512);
  });
});

test.each([
  ["nothing", undefined],
  ["null", null],
  ["a number", 7],
  ["an array", [traceparent]],
  ["an object", { traceparent }],
  ["no JSON", traceparent],
  ["a megabyte", JSON.stringify({ traceparent, more: "x".repeat(1_000_000) })],
  ["JSON of a number", "7"],
  ["JSON of null", "null"],
  ["JSON of an array", JSON.stringify([traceparent])],
  ["another number", JSON.stringify({ traceparent: 7 })],
  ["a short one", JSON.stringify({ traceparent: traceparent.slice(1) })],
  ["a long one", JSON.stringify({ traceparent: `${traceparent}-00` })],
  ["capital letters", JSON.stringify({ traceparent: traceparent.replaceAll("0", "A") })],
  ["version ff", JSON.stringify({ traceparent: `ff${traceparent.slice(2)}` })],
  ["no trace", JSON.stringify({ traceparent: `00-${"0".repeat(32)}-${"1".repeat(16)}-01` })],
  ["no span", JSON.stringify({ traceparent: `00-${"1".repeat(32)}-${"0".repeat(16)}-01` })],
])("a job with %s has no trace context", (_what, value) => {
  expect(tm(value)).toBeUndefined();
});

test("what stands beside a trace context is left out, and so is a bad tracestate", () => {
  const more = { baggage: "user=7", constructor: 1 };
  expect(tm(JSON.stringify({ traceparent, tracestate: "a=1", ...more }))).toEqual({
    traceparent,
    tracestate: "a=1",
  });
  for (const tracestate of [7, "", "a=1\n", "é", ["a=1"]]) {
    expect(tm(JSON.stringify({ traceparent, tracestate }))).toEqual({ traceparent });
  }
});

test.each([["[1]"], ["7"], ["null"], ['"tm"'], ['{"tm":'], [""]])(
  "options that are none have no trace context: %s",
  (opts) => {
    const fields = fieldsOfPairs(["opts", opts]);
    expect(storedContext(fields)).toBeUndefined();
    expect(knownOptions(fields)).toEqual({});
  },
);
