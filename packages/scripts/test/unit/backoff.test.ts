import { expect, test } from "vitest";
import { backoffMs } from "../../src/lane/backoff.js";

test("pauses grow from 100 ms to 2 s and stay there", () => {
  const most = [0, 1, 2, 3, 4, 5, 6, 1000].map((failures) => backoffMs(failures, () => 1));
  expect(most).toEqual([100, 200, 400, 800, 1600, 2000, 2000, 2000]);
  const least = [0, 1, 2, 3, 4, 5, 6, 1000].map((failures) => backoffMs(failures, () => 0));
  expect(least).toEqual([100, 100, 200, 400, 800, 1000, 1000, 1000]);
});
