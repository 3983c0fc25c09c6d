import { startServer, uniqueQueue } from "@echomq/testkit";
import { expect, onTestFinished, test } from "vitest";
import { Queue } from "../../src/index.js";
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

test("small collections free what a worker's jobs have left: none waits for a full one", {
  timeout: 120_000,
}, async () => {
  const server = await startServer();
  onTestFinished(() => server.stop());
  const { file, remove } = await bundleProgram("young");
  onTestFinished(remove);
  const name = uniqueQueue();
  await using queue = new Queue(name, { connection: server.url });
  const jobs = Array.from({ length: 5_000 }, (_, n) => ({ name: "x", data: { n } }));
  for (let n = 0; n < 28; n += 1) await queue.addBulk(jobs);
  const settings = { url: server.url, name, looks: [20_000, 60_000, 140_000] };
  // With that much room there is no full collection but the one the program asks for, and objects that were
  // alive in it are not taken for such as live long.
  const flags = [
    "--expose-gc",
    "--initial-old-space-size=1024",
    "--no-allocation-site-pretenuring",
  ];
  const { lines, end } = await runProgram(file, settings, flags);
  expect(end).toBe(0);
  const [, before = 0, after = 0] = lines.flatMap((line) =>
    line.startsWith("heap ") ? [Number(line.slice(5))] : [],
  );
  expect(before).toBeGreaterThan(0);
  // A hidden class of each job's own was more than 1 000 bytes a job, a table of runs some hundred.
  expect((after - before) / 80_000, lines.join(" ")).toBeLessThan(100);
});
