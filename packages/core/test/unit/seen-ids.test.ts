import { describe, expect, test } from "vitest";
import { SeenIds } from "../../src/doctor/seen.js";

const MANY = 100_000;

describe("ids that were seen", () => {
  test.each([
    ["numbers", (n: number) => String(n)],
    ["long ones that differ at the end", (n: number) => `${"x".repeat(200)}${n}`],
    ["long ones that differ at the start", (n: number) => `${n}${"x".repeat(200)}`],
    ["any script", (n: number) => `é∆🙂${n}\u{10ffff}`],
  ])("are never forgotten, and others are hardly ever taken for them: %s", (_, name) => {
    const seen = new SeenIds(MANY);
    let early = 0;
    for (let n = 0; n < MANY; n += 1) {
      if (seen.has(name(n))) early += 1;
      seen.add(name(n));
    }
    let forgotten = 0;
    let taken = 0;
    for (let n = 0; n < MANY; n += 1) {
      if (!seen.has(name(n))) forgotten += 1;
      if (seen.has(name(n + MANY))) taken += 1;
    }
    expect(forgotten).toBe(0);
    // One in a million is meant; this much is no accident any more.
    expect(early + taken).toBeLessThan(10);
  });

  test("more than were expected cost precision, and none is forgotten", () => {
    const seen = new SeenIds(0);
    for (let n = 0; n < 20_000; n += 1) seen.add(`${n}`);
    for (let n = 0; n < 20_000; n += 1) expect(seen.has(`${n}`)).toBe(true);
  });

  test("what one look takes for seen another does not", () => {
    const fooled = Array.from({ length: 8 }, () => {
      const seen = new SeenIds(0);
      for (let n = 0; n < 20_000; n += 1) seen.add(`${n}`);
      return new Set(Array.from({ length: 1_000 }, (_, n) => `o${n}`).filter((id) => seen.has(id)));
    });
    const always = [...(fooled[0] ?? [])].filter((id) => fooled.every((each) => each.has(id)));
    expect(fooled.every((each) => each.size > 0)).toBe(true);
    expect(always.length).toBeLessThan(fooled[0]?.size ?? 0);
  });
});
