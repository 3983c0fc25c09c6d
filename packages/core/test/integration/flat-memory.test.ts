import { startServer, uniqueQueue } from "@echomq/testkit";
import { expect, onTestFinished, test } from "vitest";
import { bundleProgram } from "../support/bundle.js";
import { runProgram } from "../support/child.js";

/** `ECHOMQ_FLAT_JOBS=1000000` is the long form. */
const JOBS = Number(process.env.ECHOMQ_FLAT_JOBS ?? 60_000);
const ROUNDS = 12;
/** Rounds in which code is compiled and lists grow to their size. */
const WARM = 4;
/**
 * What would be a leak, in bytes: less than an object of each job in the short form, less than a
 * number of each in the long one. The heap's own unrest counts less the more jobs there are.
 */
const LEFT_BY_A_JOB = 3_000_000 / JOBS;

/** The slope of the least squares line through points that lie 1 apart. */
function slope(points: readonly number[]): number {
  const mid = (points.length - 1) / 2;
  const mean = points.reduce((sum, one) => sum + one, 0) / points.length;
  const rise = points.reduce((sum, one, at) => sum + (at - mid) * (one - mean), 0);
  const run = points.reduce((sum, _, at) => sum + (at - mid) ** 2, 0);
  return rise / run;
}

test("a worker of 100 slots keeps nothing of the jobs it has done", {
  timeout: 900_000,
}, async () => {
  const server = await startServer();
  onTestFinished(() => server.stop());
  const { file, remove } = await bundleProgram("flat");
  onTestFinished(remove);
  const settings = { url: server.url, name: uniqueQueue(), jobs: JOBS, rounds: ROUNDS };
  const { lines, end } = await runProgram(file, settings, ["--expose-gc"]);
  expect(end).toBe(0);
  expect(lines.at(-1)).toBe(`ended ${Math.ceil(JOBS / ROUNDS) * ROUNDS} heard true`);
  const heaps = lines.flatMap((line) => (line.startsWith("heap ") ? [Number(line.slice(5))] : []));
  expect(heaps).toHaveLength(ROUNDS);
  const perJob = slope(heaps.slice(WARM)) / (JOBS / ROUNDS);
  expect(perJob, `heap after each round: ${heaps.join(" ")}`).toBeLessThan(LEFT_BY_A_JOB);
});
