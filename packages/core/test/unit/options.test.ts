import { describe, expect, test } from "vitest";
import { nameText, record, shown, whole } from "../../src/options/check.js";
import { checkDefaultJobOptions, checkJobOptions } from "../../src/options/job-options.js";
import { checkRetention, KEEP_COMPLETED, keepOf } from "../../src/options/retention.js";
import { JSON_CODEC } from "../../src/options/serializer.js";
import { checkWorkerOptions } from "../../src/worker/options.js";

const connection = "redis://127.0.0.1:1";

describe("job options", () => {
  test("edge values that are allowed", () => {
    expect(checkJobOptions({ delay: 0, priority: 0, attempts: 1, backoff: 0 })).toEqual({
      jobId: undefined,
      delay: 0,
      priority: 0,
      lifo: false,
      stored: '{"backoff":{"type":"fixed","delay":0}}',
    });
    expect(
      checkJobOptions({
        jobId: "x".repeat(512),
        delay: 315_360_000_000,
        priority: 2_097_151,
        attempts: 1_000_000,
        lifo: true,
        removeOnComplete: { count: 0, age: 315_360_000 },
        removeOnFail: Number.MAX_SAFE_INTEGER,
      }),
    ).toMatchObject({ delay: 315_360_000_000, priority: 2_097_151, lifo: true });
  });

  test("nothing given is nothing stored", () => {
    expect(checkJobOptions(undefined).stored).toBe("");
    expect(checkJobOptions({}).stored).toBe("");
    expect(checkJobOptions({ attempts: 1 }).stored).toBe("");
  });

  test("what is given goes over the defaults, what is undefined does not", () => {
    const defaults = checkDefaultJobOptions({ attempts: 5, delay: 10, removeOnFail: 3 });
    expect(checkJobOptions(undefined, defaults)).toMatchObject({ delay: 10 });
    const opts = { delay: 20, attempts: undefined } as never;
    expect(checkJobOptions(opts, defaults)).toMatchObject({
      delay: 20,
      stored: '{"attempts":5,"removeOnFail":3}',
    });
  });

  test("defaults are a copy: what the caller changes later does not reach jobs", () => {
    const mine = { attempts: 5 };
    const defaults = checkDefaultJobOptions(mine);
    mine.attempts = -1;
    expect(checkJobOptions(undefined, defaults).stored).toBe('{"attempts":5}');
  });
});

describe("retention", () => {
  test.each([
    [true, { count: 0, ageMs: 0 }],
    [false, { count: Number.MAX_SAFE_INTEGER, ageMs: 0 }],
    [0, { count: 0, ageMs: 0 }],
    [7, { count: 7, ageMs: 0 }],
    [{ count: 7 }, { count: 7, ageMs: 0 }],
    [{ age: 60 }, { count: Number.MAX_SAFE_INTEGER, ageMs: 60_000 }],
    [
      { count: 7, age: 60 },
      { count: 7, ageMs: 60_000 },
    ],
  ])("%j", (value, keep) => {
    expect(checkRetention("x", value)).toEqual(value);
    expect(keepOf(value, KEEP_COMPLETED)).toEqual(keep);
  });

  test.each([undefined, null, "all", -1, 1.5, Number.NaN, {}, { count: "x" }, { age: -1 }, []])(
    "stored by another version as %j is the default",
    (value) => {
      expect(keepOf(value, KEEP_COMPLETED)).toBe(KEEP_COMPLETED);
    },
  );

  test("a stored age beyond all bounds is capped, a broken half is left out", () => {
    expect(keepOf({ age: 2 ** 53 - 1 }, KEEP_COMPLETED).ageMs).toBe(315_360_000_000);
    expect(keepOf({ count: 5, age: "x" }, KEEP_COMPLETED)).toEqual({ count: 5, ageMs: 0 });
  });
});

describe("worker options", () => {
  test("defaults", () => {
    expect(checkWorkerOptions({ connection })).toEqual({
      byHand: false,
      concurrency: 1,
      claimAhead: 0,
      busyWait: true,
      codec: JSON_CODEC,
      maxDataSize: 52_428_800,
      leaseMs: 30_000,
      sweepMs: 30_000,
      stallBudget: 1,
      autorun: true,
      keepCompleted: { count: 10_000, ageMs: 86_400_000 },
      keepFailed: { count: 10_000, ageMs: 604_800_000 },
    });
  });

  test("edge values that are allowed", () => {
    const least = { concurrency: 1, lockDuration: 100, stalledInterval: 100, maxStalledCount: 0 };
    expect(checkWorkerOptions({ connection, ...least })).toMatchObject({
      leaseMs: 100,
      stallBudget: 0,
    });
    const most = { concurrency: 10_000, lockDuration: 86_400_000, maxStalledCount: 1_000 };
    expect(checkWorkerOptions({ connection, ...most })).toMatchObject({ concurrency: 10_000 });
  });
});

describe("what is told of a bad value", () => {
  test.each([
    ["text", '"text"'],
    ["x".repeat(50), `"${"x".repeat(40)}…"`],
    [5n, "5"],
    [Symbol("s"), "Symbol(s)"],
    [null, "null"],
    [{}, "an object"],
    [[], "an array"],
    [() => 1, "a function"],
  ])("is short, case %#", (value, text) => {
    expect(shown(value)).toBe(text);
  });

  test("never calls anything of it", () => {
    const trap = new Proxy({}, { get: () => expect.unreachable() });
    expect(shown(trap)).toBe("an object");
  });

  test.each([
    ["attemps", "attempts"],
    ["ATTEMPTS", "attempts"],
    ["delays", "delay"],
    ["dealy", "delay"],
    ["x", undefined],
    ["__proto__x", undefined],
  ])("%s means %s", (word, meant) => {
    const opts = { [word]: 1 };
    const tail = meant === undefined ? "" : `; did you mean ${meant}?`;
    expect(() => record("opts", opts, ["attempts", "delay"])).toThrow(
      new RegExp(`^opts\\.${word}: is not an option${tail.replace("?", "\\?")}$`),
    );
  });

  test("an own __proto__ key is an unknown option too", () => {
    expect(() => record("opts", JSON.parse('{"__proto__":1}'), ["a"])).toThrow(/not an option/);
  });
});

test("whole numbers and names at their edges", () => {
  expect(whole("n", undefined, 1, 2)).toBe(undefined);
  expect([whole("n", 1, 1, 2), whole("n", 2, 1, 2)]).toEqual([1, 2]);
  expect(nameText("name", "é".repeat(256)).length).toBe(256);
  expect(nameText("name", "👩‍🚀 a:b {c}")).toBe("👩‍🚀 a:b {c}");
});
