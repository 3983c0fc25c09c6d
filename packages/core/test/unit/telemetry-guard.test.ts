import { describe, expect, test } from "vitest";
import { GuardedTelemetry } from "../../src/telemetry/guard.js";
import type { SpanStart, Telemetry, TelemetrySpan } from "../../src/telemetry/types.js";
import { contextOf, MemoryTelemetry } from "../support/telemetry.js";

const START: SpanStart = { name: "x", kind: "consumer", attributes: {} };

function guard(telemetry: Partial<Telemetry>): {
  guarded: GuardedTelemetry;
  told: { code: string; message: string }[];
} {
  const told: { code: string; message: string }[] = [];
  const all = { ...NOTHING, ...telemetry } as Telemetry;
  return { guarded: new GuardedTelemetry(all, (error) => told.push(error)), told };
}

const NOTHING: Telemetry = {
  startSpan: () => undefined,
  count: () => undefined,
  record: () => undefined,
};

function spanWith(span: Partial<Record<keyof TelemetrySpan, unknown>>): Partial<Telemetry> {
  const whole = { context: () => undefined, run: (work: () => unknown) => work(), end: () => {} };
  return { startSpan: () => ({ ...whole, ...span }) as TelemetrySpan };
}

const boom = (): never => {
  throw new Error("boom");
};

describe("what throws is told once and passed over", () => {
  test("by every method", async () => {
    const { guarded, told } = guard({ startSpan: boom, count: boom, record: boom });
    const span = guarded.startSpan(START);
    guarded.count("echomq.jobs.added", 1, {});
    guarded.record("echomq.job.wait", 1, {});
    expect(span.context()).toBeUndefined();
    expect(await span.run(async () => 7)).toBe(7);
    span.end({ attributes: {} });
    expect(told).toMatchObject([{ code: "TELEMETRY" }]);
    expect(told[0]?.message).toContain("boom");
  });

  test.each([
    [
      "throws null",
      {
        context: () => {
          throw null;
        },
      },
    ],
    ["throws before the work", { run: boom }],
    [
      "throws after the work",
      {
        run: (work: () => unknown) => {
          work();
          boom();
        },
      },
    ],
    ["never calls the work", { run: () => undefined }],
    ["rejects before the work", { run: async () => boom() }],
    ["calls the work later", { run: (work: () => unknown) => void setTimeout(work) }],
    ["fails to end", { end: boom }],
    ["rejects at the end", { end: async () => boom() }],
    ["has no methods", { context: 1, run: 2, end: 3 }],
  ])("by a span that %s", async (_what, span) => {
    const { guarded, told } = guard(spanWith(span));
    const guardedSpan = guarded.startSpan(START);
    let calls = 0;
    guardedSpan.context();
    const work = async (): Promise<number> => {
      calls += 1;
      return 7;
    };
    expect(await guardedSpan.run(work)).toBe(7);
    guardedSpan.end({ attributes: {} });
    await new Promise((resolve) => setTimeout(resolve));
    expect([calls, told.length]).toEqual([1, 1]);
  });

  test("an async startSpan is no span", async () => {
    const { guarded, told } = guard({ startSpan: (async () => boom()) as never });
    const span = guarded.startSpan(START);
    expect(span.context()).toBeUndefined();
    expect(await span.run(async () => 7)).toBe(7);
    expect(told.map(({ message }) => message)).toEqual([
      expect.stringContaining("a promise instead of a span"),
    ]);
  });
});

test("what the work throws is its caller's, and no trouble", async () => {
  for (const run of [
    (work: () => unknown) => work(),
    async (work: () => unknown) => await work(),
  ]) {
    const { guarded, told } = guard(spanWith({ run }));
    const work = async (): Promise<never> => boom();
    await expect(guarded.startSpan(START).run(work)).rejects.toThrow("boom");
    expect(told).toEqual([]);
  }
});

test("work that is called twice runs once", async () => {
  let calls = 0;
  const run = (work: () => unknown): unknown => {
    work();
    return work();
  };
  const { guarded, told } = guard(spanWith({ run }));
  const work = async (): Promise<number> => {
    calls += 1;
    return calls;
  };
  expect(await guarded.startSpan(START).run(work)).toBe(1);
  expect([calls, told.length]).toEqual([1, 0]);
});

test.each([
  ["a number", 7],
  ["an array", [1]],
  ["text", "00-1-2-01"],
  ["no traceparent", { traceparent: "x".repeat(1_000_000) }],
])("a span whose context is %s has none", (_what, context) => {
  const { guarded, told } = guard(spanWith({ context: () => context }));
  expect(guarded.startSpan(START).context()).toBeUndefined();
  expect(told).toEqual([]);
});

test("a good telemetry is called as it is, with its own this", async () => {
  const memory = new MemoryTelemetry();
  const told: unknown[] = [];
  const guarded = new GuardedTelemetry(memory, (error) => told.push(error));
  const span = guarded.startSpan(START);
  const active = await span.run(async () => {
    await Promise.resolve();
    return memory.active;
  });
  span.end({ attributes: { a: 1 } });
  guarded.count("echomq.jobs.added", 3, {});
  expect(active).toBe(memory.spans[0]);
  expect(span.context()).toEqual(contextOf(1));
  expect(memory.spans[0]?.ends).toEqual([{ attributes: { a: 1 } }]);
  expect([memory.counts.get("echomq.jobs.added"), told]).toEqual([3, []]);
});
