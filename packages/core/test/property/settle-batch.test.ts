import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { How, Settlement } from "../../src/worker/outcome.js";
import { Run } from "../../src/worker/run.js";
import { keepOfAll, settleBatch } from "../../src/worker/settle-batch.js";

const settlements: fc.Arbitrary<Settlement> = fc
  .record({
    how: fc.constantFrom<How>("completed", "failed", "retry", "delay", "release"),
    count: fc.constantFrom(0, 1, 100),
    priority: fc.constantFrom(undefined, "0", "5", "junk"),
    size: fc.constantFrom(0, 10, 3_000_000),
  })
  .map(({ how, count, priority, size }) => {
    const run = new Run(String(count), "t", 0, 0);
    run.fields = priority === undefined ? {} : { priority };
    const keep = { count, ageMs: 0 };
    return {
      run,
      how,
      delay: 0,
      value: "x".repeat(size),
      stack: "",
      keep,
      result: 1,
      doubt: false,
    };
  });

describe("settleBatch", () => {
  test("loses and doubles nothing, ends, and each call has one retention", () => {
    fc.assert(
      fc.property(fc.array(settlements, { maxLength: 40 }), (all) => {
        let rest: readonly Settlement[] = all;
        const sent: Settlement[] = [];
        while (rest.length > 0) {
          const batch = settleBatch(rest);
          const now = [...batch.plain, ...batch.other];
          expect(now.length).toBeGreaterThan(0);
          expect(batch.rest).toEqual(rest.filter((one) => !now.includes(one)));
          for (const one of batch.plain) {
            expect(one.how).toBe("completed");
            expect(one.run.fields.priority).not.toBe("5");
            expect(one.keep).toEqual(keepOfAll(batch.plain, "completed"));
          }
          for (const how of ["completed", "failed"] as const) {
            const same = batch.other.filter((one) => one.how === how);
            for (const one of same) expect(one.keep).toEqual(keepOfAll(batch.other, how));
          }
          const chars = now.reduce((sum, { value }) => sum + value.length, 0);
          expect(chars <= 4 * 1_024 * 1_024 || now.length === 1).toBe(true);
          sent.push(...now);
          rest = batch.rest;
        }
        expect(new Set(sent).size).toBe(all.length);
        expect(sent.length).toBe(all.length);
      }),
      { numRuns: 60 },
    );
  });

  test("takes at most 250 of each", () => {
    const run = new Run("1", "t", 0, 0);
    const keep = { count: 1, ageMs: 0 };
    const one = { run, delay: 0, value: "", stack: "", keep, result: 1, doubt: false };
    const all: Settlement[] = Array.from({ length: 900 }, (_, n) => ({
      ...one,
      how: n % 2 === 0 ? "completed" : "retry",
    }));
    const { plain, other, rest } = settleBatch(all);
    expect([plain.length, other.length, rest.length]).toEqual([250, 250, 400]);
  });

  test("where there is none of a kind, keeps everything", () => {
    expect(keepOfAll([], "failed")).toEqual({ count: Number.MAX_SAFE_INTEGER, ageMs: 0 });
  });
});
