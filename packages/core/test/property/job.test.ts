import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LazySession } from "../../src/connection/lazy.js";
import { countOf, fieldsOfPairs, fieldsOfRun, numberOf } from "../../src/job/fields.js";
import { Job } from "../../src/job/job.js";
import { fromJson, toJson } from "../../src/job/payload.js";
import { failed, type Settlement, succeeded } from "../../src/worker/outcome.js";
import { Run } from "../../src/worker/run.js";

const session = new LazySession("q", { connection: "redis://127.0.0.1:1" });
const KEEP = { keepCompleted: { count: 1, ageMs: 1 }, keepFailed: { count: 1, ageMs: 1 } };
const NAMES = [
  "name",
  "data",
  "opts",
  "timestamp",
  "delay",
  "priority",
  "atm",
  "attemptsMade",
  "ats",
  "stc",
  "progress",
  "processedOn",
  "finishedOn",
  "returnvalue",
  "failedReason",
  "stacktrace",
  "__proto__",
];
const texts = fc.oneof(
  fc.constantFrom(
    "",
    "null",
    "-1",
    "1.5",
    "1e999",
    "NaN",
    "9007199254740993",
    "[1]",
    '{"a":',
    "\ud800",
  ),
  fc.string({ unit: "binary" }),
  fc.json(),
);
const pairs = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom(...NAMES), fc.string()), texts))
  .map((list) => list.flat());

describe("a job's hash may hold anything", () => {
  test("and is read as a job whose numbers are numbers", () => {
    fc.assert(
      fc.property(pairs, (list) => {
        const job = new Job({ id: "1", queue: "q", fields: fieldsOfPairs(list) }, session);
        for (const count of [job.attemptsMade, job.attemptsStarted, job.stalledCounter]) {
          expect(Number.isSafeInteger(count) && count >= 0).toBe(true);
        }
        for (const number of [job.timestamp, job.delay, job.priority]) {
          expect(Number.isFinite(number)).toBe(true);
        }
        expect(typeof job.opts === "object" && !Array.isArray(job.opts)).toBe(true);
        expect(job.stacktrace.every((line) => typeof line === "string")).toBe(true);
        expect(Object.getPrototypeOf({})).toBe(Object.prototype);
        JSON.stringify(job);
      }),
    );
  });

  test("and its run can always be written", () => {
    fc.assert(
      fc.property(
        fc.array(fc.option(texts), { maxLength: 15 }),
        fc.anything(),
        (values, result) => {
          const run = new Run("1", "t", 0, 0);
          run.fields = fieldsOfRun(values);
          // Without a strategy nothing is waited for.
          for (const end of [
            succeeded(run, result, KEEP) as Settlement,
            failed(run, result, KEEP) as Settlement,
          ]) {
            for (const number of [end.delay, end.keep.count, end.keep.ageMs, run.atm, run.ats]) {
              expect(Number.isSafeInteger(number) && number >= 0).toBe(true);
            }
            expect(typeof end.value).toBe("string");
            expect(typeof end.stack).toBe("string");
          }
        },
      ),
    );
  });

  test("pairs of a hash become fields, an own `__proto__` too", () => {
    const fields = fieldsOfPairs(["__proto__", "x", "constructor", "y"]);
    expect(Object.getPrototypeOf(fields)).toBe(null);
    expect(Object.keys(fields)).toEqual(["__proto__", "constructor"]);
  });

  test.each([
    [undefined, 0],
    ["", 0],
    ["7", 7],
    ["7.9", 7],
    ["-3", 0],
    ["1e300", 2 ** 52],
    ["Infinity", 0],
    ["x", 0],
  ])("the count %j is %i", (text, count) => {
    expect(countOf(text)).toBe(count);
    expect(Number.isFinite(numberOf(text, -1))).toBe(true);
  });
});

describe("payloads", () => {
  test("that are JSON come back as they were", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // JSON has no -0.
        const plain = JSON.parse(JSON.stringify(value));
        expect(fromJson(toJson("data", value))).toEqual(plain);
      }),
    );
  });

  test("that JSON would change in silence are refused, at any depth", () => {
    const bad = fc.constantFrom<unknown>(
      Number.NaN,
      Number.POSITIVE_INFINITY,
      1n,
      Symbol("x"),
      () => 1,
    );
    const around = fc.constantFrom<(value: unknown) => unknown>(
      (value) => value,
      (value) => [value],
      (value) => ({ key: value }),
      (value) => ({ deep: [{ deeper: value }] }),
      (value) => ({ toJSON: () => value }),
    );
    fc.assert(
      fc.property(bad, around, (value, wrap) => {
        expect(() => toJson("data", wrap(value))).toThrow(/^data: is not JSON/);
      }),
    );
  });

  test("of lists that are not quite lists are written and refused as any list", () => {
    const lies = Object.assign([Number.NaN], { every: () => true });
    expect(() => toJson("data", lies)).toThrow(/^data: is not JSON/);
    expect(toJson("data", Object.assign([1], { every: 5 }))).toBe("[1]");
    expect(toJson("data", Object.setPrototypeOf([1, 2], null))).toBe("[1,2]");
    const holes = [1];
    holes[3] = 2;
    expect(toJson("data", holes)).toBe("[1,null,null,2]");
    expect(toJson("data", [undefined, -0])).toBe("[null,0]");
  });

  test("text that is no JSON is given as it is, absent as undefined", () => {
    expect(fromJson("{half")).toBe("{half");
    expect([fromJson(""), fromJson(null), fromJson(undefined)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
