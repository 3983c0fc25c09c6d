import { setTimeout as sleep } from "node:timers/promises";
import type { BulkJob, Job, JobMap, WorkerOptions } from "../../../src/index.js";

/** Jobs that take every way through a queue. */
export const LIFE: readonly [BulkJob<JobMap>, ...BulkJob<JobMap>[]] = [
  { name: "ok", data: 0 },
  { name: "ranked", data: 0, opts: { priority: 3 } },
  { name: "late", data: 0, opts: { delay: 20 } },
  { name: "bad", data: 0 },
  { name: "again", data: 0, opts: { attempts: 2 } },
  { name: "put-off", data: 0, opts: { attempts: 2, backoff: 20 } },
  { name: "writes", data: 0, opts: { deduplication: { id: "d" } } },
  { name: "gone", data: 0, opts: { removeOnComplete: true } },
  { name: "slow", data: 0 },
];

/** How many of them end. */
export const TOTAL: number = LIFE.length;

/** The same handler wherever it runs. */
export function lifeOf(tell: (text: string) => void): (job: Job) => Promise<string> {
  return async (job) => {
    tell(`begun ${job.name}`);
    if (job.name === "bad") throw new Error("bad");
    const twice = job.name === "again" || job.name === "put-off";
    if (twice && job.attemptsMade === 0) throw new Error("once");
    if (job.name === "writes" || job.name === "gone") {
      await job.updateProgress(50);
      // Not written again when its answer was lost; the job need not fail for that.
      await job.log("a line").catch(() => undefined);
      await job.updateData({ n: 1 });
    }
    // Longer than half a lease, so that it is renewed.
    if (job.name === "slow") await sleep(130);
    return job.name;
  };
}

export function lifeOptions(name: string): Omit<WorkerOptions, "connection"> {
  return {
    stalledInterval: 100,
    maxStalledCount: 1_000,
    deadLetter: { queue: `${name}-dead` },
    metrics: { maxDataPoints: 5 },
  };
}
