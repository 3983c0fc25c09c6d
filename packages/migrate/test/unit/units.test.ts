import { describe, expect, test } from "vitest";
import { isV1Unit, lineOf, V1_HOLDERS, V1_UNITS } from "../../src/v1/units.js";

describe("V1_UNITS", () => {
  test("the scripts find by position what they check", () => {
    expect(V1_UNITS.slice(0, 4).map(({ unit }) => unit)).toEqual([
      "meta",
      "active",
      "waiting-children",
      "repeat",
    ]);
    expect(V1_UNITS.slice(1, V1_HOLDERS).every(({ holder }) => holder)).toBe(true);
    expect(V1_UNITS.slice(V1_HOLDERS).some(({ holder }) => holder)).toBe(false);
    expect(new Set(V1_UNITS.map(({ unit }) => unit)).size).toBe(V1_UNITS.length);
  });

  test("units and lines are told by their text", () => {
    expect(isV1Unit("stalled-check")).toBe(true);
    expect(isV1Unit("__proto__")).toBe(false);
    expect(lineOf("bullmq:5.65.1")).toBe("5");
    expect(lineOf("bullmq:6.7.0")).toBe("6");
    for (const text of [null, "", "bullmq:7.0.0", "other:5.0.0", "bullmq:x"])
      expect(lineOf(text)).toBeNull();
  });
});
