import { describe, expect, test } from "vitest";
import { CARRIERS, type Carrier, isMarker } from "../../src/carry/carriers.js";

const carrier = (state: string): Carrier => {
  const found = CARRIERS.find((each) => each.state === state);
  if (found === undefined) throw new Error(state);
  return found;
};

describe("carriers", () => {
  test("jobs of paused come after those of wait, so they stand nearer to the head", () => {
    expect(CARRIERS.map(({ state }) => state)).toEqual([
      "wait",
      "paused",
      "prioritized",
      "delayed",
      "completed",
      "failed",
    ]);
  });

  test("a delayed score loses its factor and keeps its fraction", () => {
    expect(carrier("delayed").carry(String(1_795_973_655_452 * 4_096 + 3), 0)).toEqual({
      score: "1795973655452.0007",
      priority: 0,
    });
    expect(Number("1795973655452.0007")).toBe(1_795_973_655_452 + 3 / 4_096);
  });

  test("priorities keep their order and are counted anew", () => {
    const { carry } = carrier("prioritized");
    expect(carry(String(3 * 2 ** 32 + 77), 0)).toEqual({
      score: String(3 * 2 ** 32 + 1),
      priority: 3,
    });
    // Put back by v1 without a counter.
    expect(carry(String(3 * 2 ** 32), 4)).toEqual({ score: String(3 * 2 ** 32 + 5), priority: 3 });
  });

  test("a priority that v2 cannot hold is clamped and said", () => {
    const { carry } = carrier("prioritized");
    expect(carry(String(2 ** 53), 9)).toMatchObject({ priority: 2_097_151, changed: "priority" });
    expect(carry("12", 0)).toMatchObject({ priority: 1, changed: "priority" });
  });

  test("a score that is no number is refused", () => {
    for (const state of ["prioritized", "delayed", "completed", "failed"]) {
      for (const score of ["inf", "-inf", "nan", "", "0x"]) {
        expect(carrier(state).carry(score, 0)).toBeNull();
      }
    }
  });

  test("markers of older lines are no jobs, and only lists hold them", () => {
    expect(isMarker(carrier("wait"), "0:1234")).toBe(true);
    expect(isMarker(carrier("wait"), "01")).toBe(false);
    expect(isMarker(carrier("completed"), "0:1234")).toBe(false);
  });
});
