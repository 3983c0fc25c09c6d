import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Hints } from "../../src/worker/hints.js";

/** Ids `from` to `to`, as a queue would name them. */
function ids(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, at) => String(from + at));
}

/** Hints that know the ids 1 to 40, learnt by a claim that took none. */
function informed(): Hints {
  const hints = new Hints();
  const first = hints.guess(1);
  expect(first.ask).toBe(64);
  hints.popped(first, [], ids(1, 40));
  return hints;
}

describe("hints", () => {
  test("two claims in flight never declare the same ids", () => {
    const hints = informed();
    expect(hints.guess(5).candidates).toEqual(ids(1, 5));
    expect(hints.guess(5).candidates).toEqual(ids(6, 10));
    expect(hints.known(40)).toBe(30);
  });

  test("the list a claim brings begins behind the claims that are on their way", () => {
    const hints = informed();
    const asking = hints.guess(20);
    expect(asking.ask).toBe(80);
    const later = hints.guess(10);
    expect(later.ask).toBe(0);
    hints.popped(asking, ids(1, 20), ids(21, 60));
    expect(hints.guess(3).candidates).toEqual(ids(31, 33));
  });

  test("what others took is skipped, and declared for next time", () => {
    const hints = informed();
    hints.popped(hints.guess(2), ["4", "5"], []);
    // Three went to others between two claims: the next declares two of its own and half as many again.
    expect(hints.guess(2).candidates).toEqual(ids(6, 10));
  });

  test("ids that are not in the list end it: it tells of another time", () => {
    const hints = informed();
    hints.popped(hints.guess(2), ["900", "901"], []);
    expect(hints.known(10)).toBe(0);
    expect(hints.guess(2)).toMatchObject({ candidates: [], ask: 64 });
  });

  test("an answer that was lost is asked for again", () => {
    const hints = new Hints();
    const lost = hints.guess(1);
    hints.failed(lost);
    expect(hints.guess(1).ask).toBe(64);
  });

  /** Claims of 20 whose jobs others had taken, each with a list that tells of another time. */
  function outrun(hints: Hints, claims: number): void {
    for (let claim = 1; claim <= claims; claim += 1) {
      const guess = hints.guess(20);
      hints.popped(guess, ids(claim * 1_000, claim * 1_000 + 19), ids(1, 250));
    }
  }

  test("large claims stop guessing when most guesses are wrong", () => {
    const hints = new Hints();
    outrun(hints, 8);
    expect(hints.contended).toBe(true);
    expect(hints.guess(20)).toMatchObject({ candidates: [], ask: 0 });
    expect(hints.known(20)).toBe(0);
    // A small claim still asks.
    expect(hints.guess(2).ask).toBe(64);
  });

  test("a claim that named nothing tells nothing of others", () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const hints = new Hints();
    outrun(hints, 8);
    for (let claim = 1; claim <= 20; claim += 1) {
      vi.advanceTimersByTime(100);
      hints.popped(hints.guess(20), ids(claim, claim + 19), []);
    }
    // The others may have gone: it is tried again.
    expect(hints.contended).toBe(false);
    expect(hints.guess(20).ask).toBeGreaterThan(0);
  });

  test("claims larger than any list are not taken for those of others", () => {
    const hints = new Hints();
    let next = 1;
    const flying = [hints.guess(150), hints.guess(150)];
    for (let claim = 1; claim <= 40; claim += 1) {
      const guess = flying.shift() ?? hints.guess(150);
      hints.popped(guess, ids(next, next + 149), ids(next + 150, next + 149 + guess.ask));
      next += 150;
      expect(hints.contended).toBe(false);
      flying.push(hints.guess(150));
    }
  });

  test("the id of a marker is tried first, and what no call can name never", () => {
    const hints = informed();
    hints.woken("77");
    const woken = hints.guess(1);
    expect(woken).toMatchObject({ candidates: ["77"], ask: 64 });
    hints.popped(woken, ["77"], ["a\u0001b", "ok"]);
    expect(hints.guess(2).candidates).toEqual(["ok"]);
  });
});
