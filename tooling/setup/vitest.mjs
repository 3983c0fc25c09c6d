/** One vitest run, counted from its JSON report. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { foreground } from "./target.mjs";

/** Runs vitest with its output on the terminal; resolves to `{ passed, failed, notes, signal }`. */
export async function runVitest(root, args) {
  const dir = await mkdtemp(join(tmpdir(), "echomq-report-"));
  const file = join(dir, "report.json");
  try {
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
    const program = join(root, "node_modules", "vitest", "vitest.mjs");
    const ended = await foreground(root, [program, "run", ...reporters, ...args], {
      NO_COLOR: "1",
      FORCE_COLOR: undefined,
    });
    const text = await readFile(file, "utf8").catch(() => undefined);
    const report = text === undefined ? undefined : JSON.parse(text);
    return {
      ...count(report, { ok: ended.code === 0, byName: byName(args) }),
      signal: ended.signal,
    };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Counts a report. A run that proves nothing, and a test that is skipped, count as failures. */
export function count(report, { ok, byName }) {
  if (!report) return { passed: 0, failed: 1, notes: ["vitest left no report"] };
  const notes = [];
  let failed = report.numFailedTests;
  const broken = report.testResults.filter(isBroken);
  if (broken.length > 0) notes.push(`${broken.length} test files could not run`);
  failed += broken.length;
  const skipped = report.numPendingTests + report.numTodoTests;
  // A name filter skips all other tests, on purpose.
  if (skipped > 0 && !byName) {
    notes.push(`${skipped} tests are skipped or todo`);
    failed += skipped;
  }
  if (report.numPassedTests === 0 && failed === 0) {
    notes.push("no test ran");
    failed = 1;
  }
  if (failed === 0 && !(ok && report.success)) {
    notes.push("vitest reported an error outside a test");
    failed = 1;
  }
  return { passed: report.numPassedTests, failed, notes };
}

function isBroken(file) {
  return (
    file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed")
  );
}

function byName(args) {
  return args.some((arg) => /^(-t|--testNamePattern)(=|$)/.test(arg));
}
