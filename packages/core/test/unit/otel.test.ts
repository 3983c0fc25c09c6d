import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { DataPointType, type Histogram } from "@opentelemetry/sdk-metrics";
import { describe, expect, test } from "vitest";
import {
  TELEMETRY_METRICS,
  type TelemetryCounter,
  type TelemetryHistogram,
} from "../../src/index.js";
import { createOtelTelemetry } from "../../src/otel/index.js";
import { activeSpan, contextOf, openSdk } from "../support/telemetry.js";

const attributes = { "messaging.system": "echomq" };
const ids = (traceparent = ""): string[] => traceparent.split("-").slice(1, 3);

describe("spans", () => {
  test.each([
    ["producer", SpanKind.PRODUCER],
    ["client", SpanKind.CLIENT],
    ["consumer", SpanKind.CONSUMER],
  ] as const)("a %s has its kind, its attributes and its context", (kind, expected) => {
    const sdk = openSdk();
    const span = sdk.telemetry.startSpan({ name: "x", kind, attributes });
    const traceparent = span?.context()?.traceparent ?? "";
    span?.end({ attributes: { more: 1 } });
    const [seen] = sdk.spans();
    expect(seen).toMatchObject({ name: "x", kind: expected, links: [] });
    expect(seen?.attributes).toEqual({ ...attributes, more: 1 });
    expect(seen?.status.code).toBe(SpanStatusCode.UNSET);
    const own = seen?.spanContext();
    expect(traceparent).toBe(`00-${own?.traceId}-${own?.spanId}-01`);
  });

  test("a failure is a recorded exception and a status", () => {
    const sdk = openSdk();
    const span = sdk.telemetry.startSpan({ name: "x", kind: "consumer", attributes });
    span?.end({ attributes: {}, error: { type: "TypeError", message: "bad", stack: "at x" } });
    const [seen] = sdk.spans();
    expect(seen?.status).toEqual({ code: SpanStatusCode.ERROR, message: "bad" });
    expect(seen?.events).toMatchObject([
      {
        name: "exception",
        attributes: {
          "exception.type": "TypeError",
          "exception.message": "bad",
          "exception.stacktrace": "at x",
        },
      },
    ]);
  });

  test("a consumer goes on from the context of its job, with its tracestate, and not from what is active", () => {
    const sdk = openSdk();
    const other = sdk.telemetry.startSpan({ name: "other", kind: "producer", attributes });
    const parent = { ...contextOf(9), tracestate: "vendor=7" };
    other?.run(() => {
      const span = sdk.telemetry.startSpan({ name: "x", kind: "consumer", attributes, parent });
      expect(span?.context()?.tracestate).toBe("vendor=7");
      span?.end({ attributes: {} });
      const root = sdk.telemetry.startSpan({ name: "y", kind: "consumer", attributes });
      root?.end({ attributes: {} });
    });
    const [child, root] = sdk.spans();
    const [traceId, spanId] = ids(parent.traceparent);
    expect(child?.spanContext().traceId).toBe(traceId);
    expect(child?.parentSpanContext).toMatchObject({ traceId, spanId, isRemote: true });
    expect(root?.parentSpanContext).toBeUndefined();
  });

  test("with continueTraces false it begins a trace and is linked", () => {
    const sdk = openSdk({ continueTraces: false });
    const parent = contextOf(9);
    const span = sdk.telemetry.startSpan({ name: "x", kind: "consumer", attributes, parent });
    span?.end({ attributes: {} });
    const [seen] = sdk.spans();
    const [traceId, spanId] = ids(parent.traceparent);
    expect(seen?.parentSpanContext).toBeUndefined();
    expect(seen?.spanContext().traceId).not.toBe(traceId);
    expect(seen?.links).toMatchObject([{ context: { traceId, spanId, isRemote: true } }]);
  });

  test("a client is linked to its jobs and within what is active", () => {
    const sdk = openSdk();
    const outer = sdk.telemetry.startSpan({ name: "outer", kind: "producer", attributes });
    const links = [contextOf(1), contextOf(2)];
    const span = outer?.run(() =>
      sdk.telemetry.startSpan({ name: "x", kind: "client", attributes, links }),
    ) as ReturnType<typeof sdk.telemetry.startSpan>;
    span?.end({ attributes: {} });
    const [seen] = sdk.spans();
    expect(seen?.links.map((link) => link.context.spanId)).toEqual(
      links.map(({ traceparent }) => ids(traceparent)[1]),
    );
    expect(seen?.parentSpanContext?.spanId).toBe(ids(outer?.context()?.traceparent)[1]);
  });

  test("work runs with its span active, also after a wait", async () => {
    const sdk = openSdk();
    const span = sdk.telemetry.startSpan({ name: "x", kind: "consumer", attributes });
    const [traceId, spanId] = ids(span?.context()?.traceparent);
    const seen = await (span?.run(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return activeSpan();
    }) as Promise<unknown>);
    expect(seen).toEqual({ traceId, spanId });
    expect(activeSpan()).toBeUndefined();
  });

  test("a decision not to sample travels on, without a provider too", () => {
    openSdk();
    const telemetry = createOtelTelemetry({ meter: false });
    const remote = { traceId: "1".repeat(32), spanId: "2".repeat(16), traceFlags: 0 };
    const start = (): ReturnType<typeof telemetry.startSpan> =>
      telemetry.startSpan({ name: "x", kind: "producer", attributes });
    const within = context.with(trace.setSpanContext(context.active(), remote), start);
    expect(within?.context()).toEqual({
      traceparent: `00-${remote.traceId}-${remote.spanId}-00`,
    });
    expect(start()?.context()).toBeUndefined();
  });
});

describe("metrics", () => {
  test("each has its unit and its description", async () => {
    const sdk = openSdk();
    const names = Object.keys(TELEMETRY_METRICS) as (TelemetryCounter | TelemetryHistogram)[];
    for (const name of names) {
      const { unit } = TELEMETRY_METRICS[name];
      if (unit === "s") sdk.telemetry.record(name as TelemetryHistogram, 0.02, attributes);
      else sdk.telemetry.count(name as TelemetryCounter, 2, attributes);
    }
    const seen = await sdk.metrics();
    expect(
      seen.map(({ descriptor: { name, unit, description } }) => [name, { unit, description }]),
    ).toEqual(Object.entries(TELEMETRY_METRICS));
    for (const { dataPointType, dataPoints, descriptor } of seen) {
      expect(dataPoints[0]?.attributes).toEqual(attributes);
      if (descriptor.unit === "{job}") expect(dataPoints[0]?.value).toBe(2);
      else {
        expect(dataPointType).toBe(DataPointType.HISTOGRAM);
        const value = dataPoints[0]?.value as Histogram | undefined;
        expect(value?.buckets.boundaries.slice(0, 3)).toEqual([0.005, 0.01, 0.025]);
      }
    }
  });

  test("none of them is made before it is used", async () => {
    const sdk = openSdk();
    sdk.telemetry.count("echomq.jobs.failed", 1, attributes);
    expect((await sdk.metrics()).map(({ descriptor }) => descriptor.name)).toEqual([
      "echomq.jobs.failed",
    ]);
  });
});
