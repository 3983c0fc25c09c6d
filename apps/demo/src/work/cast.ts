import type { FileTask } from "./measure.js";

/** One job of the story before it is added. */
export interface CastJob {
  readonly task: FileTask;
  /** `failure`: its file does not exist, so the only right end is a failed job. */
  readonly expect: "facts" | "failure";
  readonly priority?: number;
  readonly delayMs?: number;
}

/** A job once v1 has given it its id. */
export interface StoryJob extends CastJob {
  readonly id: string;
}

/** The jobs in the order they are added, and how many of them v1 is to take. */
export interface Cast {
  readonly jobs: readonly CastJob[];
  readonly v1Quota: number;
}

const V1_HOLD_MS = 2_500;
const V2_HOLD_MS = 1_500;
/** Below this no job is made to fail: one failure would be too large a part. */
const ENOUGH_TO_FAIL = 20;
const DELAY_SPREAD_MS = 2_000;

/**
 * Casts the jobs: first those that wait, then a tenth with priorities, then a twentieth with delays.
 * Two of those that wait take their time: the last one v1 takes, so that it is seen in flight, and one
 * in the middle of what is left to v2, whose worker is killed with it.
 */
export function castJobs(files: readonly string[]): Cast {
  const total = files.length;
  const prioritized = Math.floor(total / 10);
  const delayed = Math.floor(total / 20);
  const waiting = total - prioritized - delayed;
  const v1Quota = Math.floor(total / 4);
  const slowOnV1 = v1Quota - 1;
  const slowOnV2 = Math.floor((v1Quota + waiting) / 2);
  const failing = failingPlaces(total, v1Quota, waiting);
  const jobs = files.map((path, at): CastJob => {
    if (failing.has(at)) return { task: { path: `${path}.gone` }, expect: "failure" };
    if (at === slowOnV1) return { task: { path, holdMs: V1_HOLD_MS }, expect: "facts" };
    if (at === slowOnV2) return { task: { path, holdMs: V2_HOLD_MS }, expect: "facts" };
    if (at < waiting) return { task: { path }, expect: "facts" };
    const place = at - waiting;
    if (place < prioritized) return { task: { path }, expect: "facts", priority: 1 + (place % 5) };
    return {
      task: { path },
      expect: "facts",
      delayMs: delayOf(place - prioritized, delayed, total),
    };
  });
  return { jobs, v1Quota };
}

/** Places of the jobs that must fail: some early, for v1, and as many right after, for v2. */
function failingPlaces(total: number, v1Quota: number, waiting: number): ReadonlySet<number> {
  if (total < ENOUGH_TO_FAIL) return new Set();
  const each = Math.max(1, Math.floor(total / 500));
  const step = Math.floor(v1Quota / (each + 1));
  const early = Array.from({ length: each }, (_, n) => (n + 1) * step - 1);
  const late = Array.from({ length: each }, (_, n) => waiting - 1 - n);
  return new Set([...early, ...late]);
}

/** Long enough to be still delayed when the queue moves, short enough to be seen to run. */
function delayOf(place: number, delayed: number, total: number): number {
  return 6_000 + total + Math.floor((place * DELAY_SPREAD_MS) / delayed);
}
