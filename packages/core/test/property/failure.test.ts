import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isUnrecoverable, reasonOf, stacksWith } from "../../src/worker/failure.js";

/** Values that hurt whoever looks at them, the runner of the properties too: so they are kept in a list. */
const HOSTILE: readonly unknown[] = [
  null,
  undefined,
  Symbol("s"),
  10n,
  () => 1,
  Object.create(null),
  new Proxy({}, { get: () => boom(), has: () => boom(), getPrototypeOf: () => boom() }),
  new Proxy(new Error("x"), { get: () => boom() }),
  Object.defineProperty({}, "message", { get: boom }),
  Object.defineProperty(new Error("x"), "stack", { get: boom }),
  Object.assign(new Error("x"), { stack: 5 }),
  Object.assign(new Error("x"), { stack: undefined }),
  Object.assign(new Error(), { message: Symbol("m") }),
  Object.assign(new Error(), { message: 5n }),
  Object.assign(new Error(), { message: Object.create(null) }),
  { toString: () => boom() },
  { toJSON: () => boom(), toString: () => boom() },
  { toJSON: () => undefined },
  { [Symbol.toPrimitive]: () => ({}) },
  circular(),
  new AggregateError([new Error("a")], ""),
  new Error("a\ud800b\udc00"),
  new Error("\ud83d"),
  `${"x".repeat(4_095)}👩‍🚀`,
  new Error("m".repeat(1_000_000)),
];

function boom(): never {
  throw new Error("boom");
}

function circular(): object {
  const value: Record<string, unknown> = {};
  value.self = value;
  return value;
}

/** A way to get at the value, so that nothing looks at it on the way. */
const anything: fc.Arbitrary<() => unknown> = fc.oneof(
  fc.nat(HOSTILE.length - 1).map((at) => () => HOSTILE[at]),
  fc.anything().map((value) => () => value),
  fc.string({ unit: "binary" }).map((text) => () => new Error(text)),
);

describe("whatever is thrown", () => {
  test("has a readable, bounded, well-formed reason", () => {
    fc.assert(
      fc.property(anything, (thrown) => {
        const reason = reasonOf(thrown());
        expect(typeof reason).toBe("string");
        expect(reason).not.toBe("");
        expect(reason.length).toBeLessThanOrEqual(4_096);
        expect(reason.isWellFormed()).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("has a stack that joins the stored ones, at most ten, oldest dropped", () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 15 }), anything, (stored, thrown) => {
        const stacks = JSON.parse(stacksWith(stored, thrown())) as string[];
        expect(stacks.length).toBe(Math.min(stored.length + 1, 10));
        expect(stacks.slice(0, -1)).toEqual(stored.slice(-9));
        expect(stacks.at(-1)?.length).toBeLessThanOrEqual(16_384);
      }),
      { numRuns: 300 },
    );
  });

  test("is recoverable unless its name says otherwise", () => {
    fc.assert(
      fc.property(anything, (thrown) => {
        expect(isUnrecoverable(thrown())).toBe(false);
      }),
    );
    expect(isUnrecoverable({ name: "UnrecoverableError" })).toBe(true);
  });
});
