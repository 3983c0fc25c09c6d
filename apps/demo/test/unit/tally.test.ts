import { expect, test } from "vitest";
import { endingOf, tally } from "../../src/check/tally.js";
import type { Verdict } from "../../src/check/verdict.js";

const RIGHT: Verdict = { kind: "right" };
const FAILED: Verdict = { kind: "failed as expected" };
const LOST: Verdict = { kind: "lost", why: "no such job is left" };
const WRONG: Verdict = { kind: "wrong", why: "bytes is 1, should be 2" };
const COUNTS = { jobs: 2, migrated: 2, onV2: 1 };

function tallyOf(verdicts: readonly Verdict[], standing: number = verdicts.length) {
  const job = { id: "7", task: { path: "a" }, expect: "facts" } as const;
  return tally(
    verdicts.map((verdict) => ({ job, verdict })),
    standing,
  );
}

test("all right ends with 0 and exactly the line of the contract", () => {
  const found = tallyOf([RIGHT, FAILED]);
  expect(found).toEqual({ right: 1, failedAsExpected: 1, lost: [], wrong: [], extra: 0 });
  expect(endingOf(COUNTS, found)).toEqual({
    line: "demo: 2 jobs, 2 migrated, 1 processed on v2, 0 lost",
    exit: 0,
  });
});

test.each([
  [[RIGHT, LOST], 2, "1 lost"],
  [[RIGHT, WRONG], 2, "0 lost, 1 wrong"],
  [[LOST, WRONG], 2, "1 lost, 1 wrong"],
  [[RIGHT, RIGHT], 5, "0 lost, 3 too many"],
])("%j of %i ends with 1 and says how many", (verdicts, standing, tail) => {
  expect(endingOf(COUNTS, tallyOf(verdicts, standing))).toEqual({
    line: `demo: 2 jobs, 2 migrated, 1 processed on v2, ${tail}`,
    exit: 1,
  });
});

test("a problem names its job and its file", () => {
  expect(tallyOf([LOST]).lost).toEqual([{ job: "7 (a)", why: "no such job is left" }]);
});
