import { table } from "@echomq/scripts/cli";
import type { JobCounts } from "../job/types.js";
import type { Queue } from "../queue/queue.js";

/** How a queue stands, for a glance. */
export interface Standing {
  readonly queue: string;
  readonly paused: boolean;
  /** Workers heard of in the last minute. */
  readonly workers: number;
  readonly counts: JobCounts;
}

/** Reads how a queue stands; writes nothing. */
export async function standingOf(queue: Queue): Promise<Standing> {
  const [counts, paused, workers] = await Promise.all([
    queue.getJobCounts(),
    queue.isPaused(),
    queue.getWorkersCount(),
  ]);
  return { queue: queue.name, paused, workers, counts };
}

/** Queues in a table, one a row. */
export function describeCounts(all: readonly Standing[]): string[] {
  const [first] = all;
  if (first === undefined) return [];
  const states = Object.keys(first.counts) as (keyof JobCounts)[];
  const rows = all.map(({ queue, paused, workers, counts }) => [
    queue,
    ...states.map((state) => counts[state]),
    workers,
    paused ? "paused" : "",
  ]);
  return [table([["queue", ...states, "workers", ""], ...rows])];
}
