import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  BACKOFF_MAX_MS,
  type BuiltInBackoff,
  backoffDelay,
  type CustomBackoff,
  storedBackoff,
} from "../../src/options/backoff.js";
import { DELAY_MAX_MS } from "../../src/options/limits.js";

const backoffs: fc.Arbitrary<BuiltInBackoff> = fc.record(
  {
    type: fc.constantFrom("fixed" as const, "exponential" as const),
    delay: fc.oneof(fc.constantFrom(0, 1, DELAY_MAX_MS), fc.integer({ min: 0, max: DELAY_MAX_MS })),
    jitter: fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true })),
  },
  { requiredKeys: ["type", "delay"] },
);
const attempts = fc.oneof(
  fc.constantFrom(1, 2, 53, 54, 1_024, 1_025, 1_026, 1_000_000, 2 ** 52),
  fc.integer({ min: 1, max: 2 ** 52 }),
);
const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe("backoffDelay", () => {
  test("is a whole number from 0 to its cap, at any attempt", () => {
    fc.assert(
      fc.property(backoffs, attempts, randoms, (backoff, attempt, random) => {
        const wait = backoffDelay(backoff, attempt, () => random);
        expect(Number.isSafeInteger(wait)).toBe(true);
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThanOrEqual(Math.max(backoff.delay, BACKOFF_MAX_MS));
      }),
    );
  });

  test("without jitter never shrinks with the attempts, and is the delay at the first", () => {
    fc.assert(
      fc.property(backoffs, attempts, attempts, (given, a, b) => {
        const backoff = { ...given, jitter: 0 };
        const [early, late] = a < b ? [a, b] : [b, a];
        expect(backoffDelay(backoff, 1)).toBe(backoff.delay);
        expect(backoffDelay(backoff, early)).toBeLessThanOrEqual(backoffDelay(backoff, late));
        if (backoff.type === "fixed") expect(backoffDelay(backoff, late)).toBe(backoff.delay);
      }),
    );
  });

  test("jitter takes at most its share away", () => {
    fc.assert(
      fc.property(backoffs, attempts, randoms, (backoff, attempt, random) => {
        const full = backoffDelay({ ...backoff, jitter: 0 }, attempt);
        const wait = backoffDelay(backoff, attempt, () => random);
        expect(wait).toBeLessThanOrEqual(full);
        expect(wait).toBeGreaterThanOrEqual(Math.floor(full * (1 - (backoff.jitter ?? 0))));
      }),
    );
  });

  test.each([
    [1, 1_000],
    [2, 2_000],
    [3, 4_000],
    [11, 1_024_000],
    [18, 86_400_000],
    [100, 86_400_000],
  ])("exponential of 1 s at attempt %i is %i ms", (attempt, ms) => {
    expect(backoffDelay({ type: "exponential", delay: 1_000 }, attempt)).toBe(ms);
  });
});

describe("storedBackoff", () => {
  const shaped = fc.record(
    { type: fc.jsonValue(), delay: fc.jsonValue(), jitter: fc.jsonValue() },
    { requiredKeys: [] },
  );

  test("of any JSON is none, one that can be used, or an Error", () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), shaped), attempts, (value, attempt) => {
        let backoff: BuiltInBackoff | CustomBackoff | null;
        try {
          backoff = storedBackoff(value);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
          expect((error as Error).message).toMatch(/unknown backoff/);
          return;
        }
        if (backoff === null) return;
        expect(backoff.jitter === undefined || (backoff.jitter >= 0 && backoff.jitter <= 1)).toBe(
          true,
        );
        if ("custom" in backoff) expect(backoff.type.length).toBeGreaterThan(0);
        else expect(Number.isSafeInteger(backoffDelay(backoff, attempt))).toBe(true);
      }),
    );
  });

  test("of what checkBackoff lets through is the same", () => {
    fc.assert(
      fc.property(backoffs, (backoff) => {
        expect(storedBackoff(JSON.parse(JSON.stringify(backoff)))).toEqual({
          jitter: 0,
          ...backoff,
        });
      }),
    );
  });
});
