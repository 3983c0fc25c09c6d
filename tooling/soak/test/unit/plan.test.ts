import { expect, test } from "vitest";
import { planFor } from "../../src/plan.js";
import { Random } from "../../src/random.js";

const OPTIONS = { seed: 7, kills: 40, ms: 240_000, leaseMs: 2_500 };

test("the same seed makes the same plan, another seed another", () => {
  expect(planFor(OPTIONS)).toEqual(planFor(OPTIONS));
  expect(planFor({ ...OPTIONS, seed: 8 })).not.toEqual(planFor(OPTIONS));
});

test("a plan holds as many kills as were asked for, in order, and every other kind of fault", () => {
  const plan = planFor(OPTIONS);
  const kinds = plan.map(({ fault }) => fault.kind);
  expect(kinds.filter((kind) => kind === "kill").length).toBe(40);
  expect(new Set(kinds).size).toBe(18);
  expect(plan.map(({ at }) => at)).toEqual(plan.map(({ at }) => at).sort((a, b) => a - b));
});

test("each round ends in a calm", () => {
  for (const { at } of planFor(OPTIONS)) expect(at % 20_000).toBeLessThanOrEqual(13_000);
});

test("a stop lasts longer than a lease at times, and shorter at others", () => {
  const plan = planFor({ ...OPTIONS, kills: 400 });
  const stops = plan.flatMap(({ fault }) => (fault.kind === "stop" ? [fault.ms] : []));
  expect(Math.max(...stops)).toBeGreaterThan(OPTIONS.leaseMs);
  expect(Math.min(...stops)).toBeLessThan(OPTIONS.leaseMs);
});

test("weights say how often", () => {
  const random = new Random(1);
  const counts = { often: 0, seldom: 0, never: 0 };
  for (let n = 0; n < 2_000; n += 1)
    counts[random.weighted({ often: 9, seldom: 1, never: 0 })] += 1;
  expect(counts.never).toBe(0);
  expect(counts.seldom).toBeGreaterThan(100);
  expect(counts.often).toBeGreaterThan(1_500);
});
