import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Lean } from "../../src/worker/lean.js";

const ALL = { count: Number.MAX_SAFE_INTEGER, ageMs: 0 };
const NONE = { count: 0, ageMs: 0 };

/** A call that settles one and claims one. */
const busy = (lean: Lean, keep = ALL): boolean => lean.fits(1, 1, keep, false);
/** A claim of a worker that was idle, with slots left or without. */
const claims = (lean: Lean, more: boolean): boolean => lean.fits(0, 1, ALL, more);

describe("between turn and step", () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ["performance"] }));
  afterEach(() => vi.useRealTimers());

  test("a busy worker takes turns after a step that found plenty, for 20 ms", () => {
    const lean = new Lean();
    expect(busy(lean)).toBe(false);
    lean.stepped(true, 0);
    expect([busy(lean), busy(lean, NONE)]).toEqual([true, true]);
    expect(busy(lean, { count: 999, ageMs: 0 })).toBe(false);
    expect(lean.fits(0, 1, ALL, true)).toBe(false);
    expect(lean.fits(1, 0, ALL, true)).toBe(false);
    vi.advanceTimersByTime(20);
    expect(busy(lean)).toBe(false);
    lean.stepped(true, 100);
    expect(busy(lean)).toBe(false);
    lean.stepped(true, 0);
    lean.ranShort();
    expect(busy(lean)).toBe(false);
  });

  test("a woken one begins with a turn where another claim follows, which is a step", () => {
    const lean = new Lean();
    lean.woken();
    expect(claims(lean, false)).toBe(false);
    expect(claims(lean, true)).toBe(true);
    expect([claims(lean, true), busy(lean)]).toEqual([false, false]);
    lean.stepped(true, 0);
    lean.woken();
    expect(claims(lean, true)).toBe(true);
    expect(busy(lean)).toBe(false);
    lean.woken();
    lean.stepped(true, 0);
    expect(claims(lean, true)).toBe(false);
  });

  test("a queue with a setting is asked again after a second, by whoever is woken after a minute", () => {
    const lean = new Lean();
    lean.refused();
    lean.stepped(true, 0);
    lean.woken();
    expect([busy(lean), claims(lean, true), lean.limited]).toEqual([false, false, true]);
    vi.advanceTimersByTime(1_000);
    lean.stepped(true, 0);
    lean.woken();
    expect([busy(lean), claims(lean, true), lean.limited]).toEqual([true, false, false]);
    vi.advanceTimersByTime(59_000);
    expect(claims(lean, true)).toBe(true);
  });

  test("a pause says nothing of what comes after it", () => {
    const lean = new Lean();
    lean.refused();
    lean.stepped(false, 0);
    lean.paused();
    lean.woken();
    expect([claims(lean, true), lean.limited]).toEqual([true, false]);
    lean.stepped(true, 0);
    expect(busy(lean)).toBe(true);
  });
});
