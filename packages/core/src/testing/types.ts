import type { DataOf, JobCounts, JobMap, JobMapOf, JobName, ResultOf } from "../job/types.js";

/** A job that has completed. */
export type CompletedJob<M extends JobMapOf<M> = JobMap> = {
  [N in JobName<M>]: {
    readonly id: string;
    readonly name: N;
    /** As its run left it. */
    readonly data: DataOf<M, N>;
    /** As it is stored and read back, which may differ from what was returned: a `Date` is its text. */
    readonly result: ResultOf<M, N>;
  };
}[JobName<M>];

/** An attempt that has failed. */
export type FailedJob<M extends JobMapOf<M> = JobMap> = {
  [N in JobName<M>]: {
    readonly id: string;
    readonly name: N;
    readonly data: DataOf<M, N>;
    /** As it is stored. */
    readonly reason: string;
    /** What was thrown. */
    readonly error: unknown;
    /** Attempts made so far, this one included. */
    readonly attempts: number;
  };
}[JobName<M>];

/** What `drainQueue` has seen, each list in the order of events. */
export interface Drained<M extends JobMapOf<M> = JobMap> {
  readonly completed: readonly CompletedJob<M>[];
  /** Jobs that failed for good. */
  readonly failed: readonly FailedJob<M>[];
  /** Attempts that failed and that another was to follow. */
  readonly retried: readonly FailedJob<M>[];
  /** How often the processor was begun. */
  readonly runs: number;
  /** By how much the clock was moved, in ms. */
  readonly advanced: number;
  /** Jobs in each state afterwards. What waits there could not run: see `DrainOptions`. */
  readonly counts: JobCounts;
}
