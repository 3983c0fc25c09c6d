import { type Bench, type Measures, workerOf } from "../bench.js";
import type { Child } from "../child/child.js";
import { countersAfter, countersBefore, perJob } from "../server/counters.js";
import { jobs, pages } from "../sides/jobs.js";
import type { BenchQueue, Contender } from "../sides/types.js";

/** How a queue is drained. */
export interface Drain {
  readonly concurrency: number;
  readonly keep: boolean;
  readonly sweep: boolean;
  readonly jobs: number;
}

const PAGE = 1_000;
/** A run that takes longer has hung. */
const HUNG_MS = 180_000;

/**
 * Drains a queue with workers that are connected, warm and blocked: the queue is filled while paused,
 * and the clock and counters run from its resume to the last completion that was acknowledged.
 */
export async function drained(
  bench: Bench,
  children: readonly Child[],
  { contender, name, queue }: { contender: Contender; name: string; queue: BenchQueue },
  drain: Drain,
): Promise<Measures> {
  const { concurrency, keep, sweep } = drain;
  const worker = { port: bench.port, queue: name, concurrency, keep, sweep };
  const params = { ...worker, ...workerOf(bench, contender) };
  await Promise.all(children.map((child) => child.call("openWorker", params)));

  const warm = Math.max(...children.map((child) => child.warmUp(drain.jobs)));
  await expect(children, warm);
  const warmed = allDone(children, warm);
  await fill(queue, warm);
  await warmed;

  await queue.pause();
  await fill(queue, drain.jobs);
  await expect(children, drain.jobs);
  const done = allDone(children, drain.jobs);
  const before = await countersBefore(bench.control);
  const started = performance.now();
  await queue.resume();
  await done;
  const seconds = (performance.now() - started) / 1_000;
  const after = await countersAfter(bench.control);

  await Promise.all(children.map((child) => child.call("closeWorker", null)));
  const { cpu, commands, bytes } = perJob(before, after, drain.jobs);
  return { rate: drain.jobs / seconds, cpu, commands, bytes };
}

/** Adds jobs in large lists, unmeasured. */
export async function fill(queue: BenchQueue, count: number): Promise<void> {
  for (const page of pages(jobs(count), PAGE)) await queue.addBulk(page);
}

export async function expect(children: readonly Child[], total: number): Promise<void> {
  const shared = children.length > 1;
  await Promise.all(children.map((child) => child.call("expect", { total, shared })));
}

/** Resolves when the children have completed `total` jobs together. Call it after `expect`. */
export function allDone(children: readonly Child[], total: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const hung = setTimeout(() => {
      reject(new Error(`only ${sum(children)} of ${total} jobs completed in ${HUNG_MS / 1_000} s`));
    }, HUNG_MS);
    const end = (act: () => void): void => {
      clearTimeout(hung);
      for (const child of children) {
        child.onProgress = () => undefined;
        child.onTrouble = () => undefined;
      }
      act();
    };
    for (const child of children) {
      child.onProgress = () => {
        if (sum(children) >= total) end(resolve);
      };
      child.onTrouble = (error) => end(() => reject(error));
    }
  });
}

function sum(children: readonly Child[]): number {
  return children.reduce((all, { done }) => all + done, 0);
}
