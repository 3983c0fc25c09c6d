import { sharedServer } from "@echomq/testkit";
import { SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { expect, test } from "vitest";
import { Bench } from "../support/bench.js";
import { startChild } from "../support/child.js";
import { activeSpan, openSdk, type Sdk } from "../support/telemetry.js";
import { until } from "../support/until.js";

const FILE = new URL("../support/processors/steps.cjs", import.meta.url);

const open = async (): Promise<Bench> => Bench.on((await sharedServer("redis")).url);
const named = (sdk: Sdk, what: string): ReadableSpan[] =>
  sdk.spans().filter(({ name }) => name.startsWith(`${what} `));

async function processed(sdk: Sdk, count: number): Promise<ReadableSpan[]> {
  await until(`${count} runs ended`, () => named(sdk, "process").length === count);
  return named(sdk, "process");
}

test("a handler's own spans are children of its run, which is a child of the add in another process", async () => {
  const bench = await open();
  const sdk = openSdk();
  const child = startChild("traced-adder", { url: bench.url, name: bench.name });
  const seen: unknown[] = [];
  bench.worker(
    async () => {
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(activeSpan());
    },
    { telemetry: sdk.telemetry },
  );
  const [run] = await processed(sdk, 1);
  await until("the adder told its span", () => child.messages.length === 1);
  const [told = ""] = child.messages;
  const add = JSON.parse(told) as { traceId: string; spanId: string; kind: number };
  expect(add.kind).toBe(SpanKind.PRODUCER);
  expect(run?.kind).toBe(SpanKind.CONSUMER);
  expect(run?.parentSpanContext).toMatchObject({
    traceId: add.traceId,
    spanId: add.spanId,
    isRemote: true,
  });
  expect(seen).toEqual([{ traceId: add.traceId, spanId: run?.spanContext().spanId }]);
  expect(await child.ended).toBe(0);
});

test("what was active where the worker was made is no part of its runs; an add is part of what is active", async () => {
  const bench = await open();
  const sdk = openSdk();
  const queue = bench.queue({ telemetry: sdk.telemetry });
  const outer = sdk.telemetry.startSpan({ name: "outer x", kind: "producer", attributes: {} });
  await (outer?.run(async () => {
    bench.worker(() => undefined, { telemetry: sdk.telemetry });
    await queue.add("x", {});
  }) as Promise<void>);
  await bench.queue().add("y", {});
  const [first, second] = await processed(sdk, 2);
  outer?.end({ attributes: {} });
  const [add] = named(sdk, "add");
  const [made] = named(sdk, "outer");
  expect(add?.parentSpanContext?.spanId).toBe(made?.spanContext().spanId);
  expect(first?.parentSpanContext?.spanId).toBe(add?.spanContext().spanId);
  expect(second?.parentSpanContext).toBeUndefined();
});

test("a failure records the exception, and its retry is in the same trace", async () => {
  const bench = await open();
  const sdk = openSdk();
  const queue = bench.queue({ telemetry: sdk.telemetry });
  bench.worker(
    (job) => {
      if (job.attemptsMade === 0) throw new RangeError("too far");
    },
    { telemetry: sdk.telemetry },
  );
  await queue.add("x", {}, { attempts: 2 });
  const [first, second] = await processed(sdk, 2);
  expect(first?.status).toEqual({ code: SpanStatusCode.ERROR, message: "too far" });
  expect(first?.events).toMatchObject([
    { name: "exception", attributes: { "exception.type": "RangeError" } },
  ]);
  expect(first?.attributes).toMatchObject({
    "echomq.job.outcome": "retried",
    "error.type": "RangeError",
  });
  expect(second?.status.code).toBe(SpanStatusCode.UNSET);
  expect(second?.attributes).toMatchObject({ "echomq.job.outcome": "completed" });
  const [add] = named(sdk, "add");
  for (const run of [first, second])
    expect(run?.parentSpanContext?.spanId).toBe(add?.spanContext().spanId);
});

test("a bulk has links, and with continueTraces false so has each run", async () => {
  const bench = await open();
  const sdk = openSdk({ continueTraces: false });
  const queue = bench.queue({ telemetry: sdk.telemetry });
  await queue.addBulk(["a", "b"].map((name) => ({ name, data: {} })));
  bench.worker(() => undefined, { telemetry: sdk.telemetry });
  const ran = await processed(sdk, 2);
  const ids = named(sdk, "create").map((span) => span.spanContext().spanId);
  const [bulk] = named(sdk, "addBulk");
  expect(bulk?.kind).toBe(SpanKind.CLIENT);
  expect(bulk?.links.map(({ context }) => context.spanId)).toEqual(ids);
  expect(ran.map(({ links }) => links[0]?.context.spanId)).toEqual(ids);
  expect(ran.map(({ parentSpanContext }) => parentSpanContext)).toEqual([undefined, undefined]);
});

test("metrics count what was added and done", async () => {
  const bench = await open();
  const sdk = openSdk();
  const queue = bench.queue({ telemetry: sdk.telemetry });
  bench.worker(
    (job) => {
      if (job.name === "bad") throw new TypeError("bad");
    },
    { telemetry: sdk.telemetry, concurrency: 5 },
  );
  await queue.addBulk(["good", "good", "bad"].map((name) => ({ name, data: {} })));
  await processed(sdk, 3);
  const metrics = await sdk.metrics();
  const points = (name: string): unknown[] =>
    metrics
      .find(({ descriptor }) => descriptor.name === name)
      ?.dataPoints.map(({ attributes, value }) => [
        attributes["echomq.job.name"],
        attributes["error.type"],
        typeof value === "number" ? value : (value as { count: number }).count,
      ]) ?? [];
  expect(points("echomq.jobs.added")).toEqual([
    ["good", undefined, 2],
    ["bad", undefined, 1],
  ]);
  expect(points("echomq.jobs.completed")).toEqual([["good", undefined, 2]]);
  expect(points("echomq.jobs.failed")).toEqual([["bad", "TypeError", 1]]);
  expect(points("echomq.job.wait")).toEqual([
    ["good", undefined, 2],
    ["bad", undefined, 1],
  ]);
  const process = points("messaging.process.duration");
  expect(process).toHaveLength(2);
  expect(process).toContainEqual(["bad", "TypeError", 1]);
});

test("a handler in a thread has its span around it, and is not inside", async () => {
  const bench = await open();
  const sdk = openSdk();
  const queue = bench.queue({ telemetry: sdk.telemetry });
  bench.worker(FILE, { telemetry: sdk.telemetry });
  const good = await queue.add("x", { do: "trace" });
  await queue.add("x", { do: "throw" });
  await queue.add("x", { do: "exit" });
  const [first, second, third] = await processed(sdk, 3);
  expect((await queue.getJob(good.id))?.returnvalue).toEqual({ opts: {} });
  expect(first?.parentSpanContext?.spanId).toBe(named(sdk, "add")[0]?.spanContext().spanId);
  expect(first?.attributes["echomq.job.outcome"]).toBe("completed");
  expect(second?.events[0]?.attributes).toMatchObject({
    "exception.message": "thrown in the thread",
  });
  expect(third?.attributes).toMatchObject({
    "echomq.job.outcome": "failed",
    "error.type": "SANDBOX",
  });
});

test("a job fetched by hand has its span until its end is written; its caller is not inside", async () => {
  const bench = await open();
  const sdk = openSdk();
  const queue = bench.queue({ telemetry: sdk.telemetry });
  await queue.add("x", {});
  const worker = bench.worker(null, { telemetry: sdk.telemetry });
  const job = await worker.getNextJob();
  expect(trace.getActiveSpan()).toBeUndefined();
  expect(named(sdk, "process")).toEqual([]);
  await job?.moveToFailed(new TypeError("by hand"));
  const [run] = await processed(sdk, 1);
  expect(run?.attributes).toMatchObject({
    "echomq.job.outcome": "failed",
    "error.type": "TypeError",
  });
});
