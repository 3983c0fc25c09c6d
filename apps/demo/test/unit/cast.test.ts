import { expect, test } from "vitest";
import { castJobs } from "../../src/work/cast.js";

function filesOf(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `file-${at}`);
}

test.each([1, 2, 3, 4, 7, 8, 19, 20, 60, 999, 2_000, 20_000])("%i jobs", (total) => {
  const { jobs, v1Quota } = castJobs(filesOf(total));
  expect(jobs).toHaveLength(total);
  expect(new Set(jobs.map(({ task }) => task.path)).size).toBe(total);
  expect(v1Quota).toBe(Math.floor(total / 4));

  const failing = jobs.flatMap(({ expect: end }, at) => (end === "failure" ? [at] : []));
  const early = failing.filter((at) => at < v1Quota - 1);
  expect(failing).toHaveLength(early.length * 2);
  expect(failing.length > 0).toBe(total >= 20);

  const slow = jobs.flatMap(({ task }, at) => (task.holdMs === undefined ? [] : [at]));
  expect(slow.filter((at) => at < v1Quota)).toEqual(v1Quota === 0 ? [] : [v1Quota - 1]);
  expect(slow.filter((at) => at >= v1Quota)).toHaveLength(1);
});

test("a tenth has priorities, a twentieth is delayed, and only those that wait are special", () => {
  const { jobs } = castJobs(filesOf(200));
  expect(jobs.filter(({ priority }) => priority !== undefined)).toHaveLength(20);
  expect(jobs.filter(({ delayMs }) => delayMs !== undefined)).toHaveLength(10);
  const plain = jobs.filter(({ priority, delayMs }) => (priority ?? delayMs) === undefined);
  expect(plain).toHaveLength(170);
});
