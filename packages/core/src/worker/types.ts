import type { Job } from "../job/job.js";
import type { DataOf, JobMap, JobName, ResultOf } from "../job/types.js";
import type { ManualJob } from "./manual-job.js";

/** What a handler is given besides its job. */
export interface JobContext {
  /**
   * Aborts when the run must not go on: its lease was lost, its job was cancelled or took too long, or
   * the worker closes. `signal.reason` is a typed error.
   */
  readonly signal: AbortSignal;
  /** Token of the lease this run holds. */
  readonly token: string;
  readonly lease: {
    /** Ms left until the lease ends, if it is not renewed. */
    readonly remaining: number;
  };
}

/** A job of any kind of a map, as a union, so that `job.name` narrows `job.data`. */
export type AnyJob<M extends JobMap> = {
  [N in JobName<M>]: Job<DataOf<M, N>, ResultOf<M, N>, N>;
}[JobName<M>];

/** As {@link AnyJob}, of jobs fetched by hand. */
export type AnyManualJob<M extends JobMap> = {
  [N in JobName<M>]: ManualJob<DataOf<M, N>, ResultOf<M, N>, N>;
}[JobName<M>];

/** How a job is fetched by hand. */
export interface NextJobOptions {
  /** False: only look, and do not wait for one. Default true. */
  readonly block?: boolean;
  /** How long to wait for one, in ms. Default 5 000. */
  readonly timeout?: number;
  /** Whether the worker renews the lease while the job is held. Default true. */
  readonly renew?: boolean;
}

/** Does the work of one job. What it returns is stored as JSON; what it throws fails the attempt. */
export type Handler<M extends JobMap> = (
  job: AnyJob<M>,
  context: JobContext,
) => // biome-ignore lint/suspicious/noConfusingVoidType: a handler may return nothing
Promise<ResultOf<M, JobName<M>> | undefined | void> | ResultOf<M, JobName<M>> | undefined | void;

/** Events of a worker. */
export interface WorkerEvents<M extends JobMap> {
  /** The worker is connected and claims. */
  ready: [];
  active: [job: AnyJob<M>];
  completed: [job: AnyJob<M>, result: unknown];
  /** An attempt failed; `retry` tells whether another follows. */
  failed: [job: AnyJob<M>, error: unknown, retry: boolean];
  /** The run's lease was lost: another worker has the job, or will. Its result is not written. */
  lost: [job: AnyJob<M>, error: Error];
  /** A job whose worker died was put back in line. */
  stalled: [jobId: string];
  /** Nothing is left to claim. */
  drained: [];
  error: [error: Error];
  closed: [];
}

/** How a worker closes. */
export interface CloseOptions {
  /** How long running jobs may take to end, in ms; then they go back to the queue. Default 30 000. */
  readonly timeout?: number;
}
