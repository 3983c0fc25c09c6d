import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Lean } from "../../src/worker/lean.js";

const ALL = { count: Number.MAX_SAFE_INTEGER, ageMs: 0 };
const NONE = { count: 0, ageMs: 0 };

/** A call that settles one and claims one. */
const busy = (lean: Lean, keep = ALL): boolean => lean.fits(1, 1, keep);

describe("between turn and step", () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ["performance"] }));
  afterEach(() => vi.useRealTimers());

  test("a busy worker takes turns after a step that found plenty, for 20 ms", () => {
    const lean = new Lean();
    expect(busy(lean)).toBe(false);
    lean.stepped(true, 0);
    expect([busy(lean), busy(lean, NONE)]).toEqual([true, true]);
    expect(busy(lean, { count: 999, ageMs: 0 })).toBe(false);
    expect(lean.fits(0, 1, ALL)).toBe(false);
    expect(lean.fits(1, 0, ALL)).toBe(false);
    vi.advanceTimersByTime(20);
    expect(busy(lean)).toBe(false);
    lean.stepped(true, 100);
    expect(busy(lean)).toBe(false);
    lean.stepped(true, 0);
    lean.ranShort();
    expect(busy(lean)).toBe(false);
  });

  test("a queue with a setting is asked again after a second", () => {
    const lean = new Lean();
    lean.refused();
    lean.stepped(true, 0);
    expect([busy(lean), lean.limited]).toEqual([false, true]);
    vi.advanceTimersByTime(1_000);
    lean.stepped(true, 0);
    expect([busy(lean), lean.limited]).toEqual([true, false]);
  });

  test("a pause says nothing of what comes after it", () => {
    const lean = new Lean();
    lean.refused();
    lean.stepped(false, 0);
    lean.paused();
    expect(lean.limited).toBe(false);
    lean.stepped(true, 0);
    expect(busy(lean)).toBe(true);
  });
});
