import { expect, test } from "vitest";
import { Pace } from "../../src/view/pace.js";

function paced(steps: readonly (readonly [at: number, done: number])[]): Pace {
  let now = 0;
  const pace = new Pace(() => now);
  for (const [at, done] of steps) {
    now = at;
    pace.add(done);
  }
  return pace;
}

test("the rate is that of the last second, the best second stays", () => {
  const pace = paced([
    [500, 50],
    [1_000, 200],
    [2_000, 300],
    [3_000, 300],
    [4_000, 300],
  ]);
  expect(pace.best).toBe(200);
  expect(pace.rate).toBe(0);
});

test("time without a change is idle time and not part of the work", () => {
  const pace = paced([
    [800, 10],
    [2_000, 10],
  ]);
  expect(pace.ms).toBe(800);
  expect(pace.idleMs).toBe(1_200);
});
