import { describe, expect, test } from "vitest";
import { quantile, summarize } from "../../src/stats.js";

describe("quantile", () => {
  test("interpolates between neighbours, in any order", () => {
    expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
    expect(quantile([9, 1, 5], 0.25)).toBe(3);
    expect(quantile([7], 0.75)).toBe(7);
  });

  test("has no value for nothing", () => {
    expect(quantile([], 0.5)).toBeNaN();
  });
});

describe("summarize", () => {
  const rounds = [
    { ours: 10, peer: 20 },
    { ours: 30, peer: 30 },
    { ours: 20, peer: 80 },
  ];

  test("a cost is better when ours is lower", () => {
    expect(summarize(rounds, "less")).toEqual({ ratio: 2, low: 1.5, high: 3, ours: 20, peer: 30 });
  });

  test("a rate is better when ours is higher", () => {
    expect(summarize(rounds, "more").ratio).toBe(0.5);
  });
});
