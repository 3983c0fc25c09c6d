import { expect, test } from "vitest";
import { count } from "../../vitest.mjs";

const clean = {
  numPassedTests: 2,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  success: true,
  testResults: [{ status: "passed", assertionResults: [{ status: "passed" }] }],
};
const broken = { status: "failed", assertionResults: [] };
const red = { status: "failed", assertionResults: [{ status: "failed" }] };

test.each([
  ["a clean run", clean, {}, 2, 0],
  ["a failed test", { ...clean, numFailedTests: 1, success: false, testResults: [red] }, {}, 2, 1],
  ["a file that cannot run", { ...clean, success: false, testResults: [broken] }, {}, 2, 1],
  ["a skipped test", { ...clean, numPendingTests: 1 }, {}, 2, 1],
  ["a test to be written", { ...clean, numTodoTests: 3 }, {}, 2, 3],
  ["tests left out by name", { ...clean, numPendingTests: 5 }, { byName: true }, 2, 0],
  ["nothing run", { ...clean, numPassedTests: 0, testResults: [] }, {}, 0, 1],
  ["an error outside a test", { ...clean, success: false }, {}, 2, 1],
  ["a bad exit", clean, { ok: false }, 2, 1],
  ["no report", undefined, {}, 0, 1],
])("%s", (_, report, how, passed, failed) => {
  expect(count(report, { ok: true, byName: false, ...how })).toMatchObject({ passed, failed });
});
