import type { EchoMQError } from "@echomq/wire";
import type { Job } from "../job/job.js";
import type { DataOf, JobMap, JobMapOf, JobName, ResultOf } from "../job/types.js";
import type { LeaseLostError } from "./errors.js";
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

/** A job of any kind of a map, or of the kinds `N`: a union, so that `job.name` narrows `job.data`. */
export type AnyJob<M extends JobMapOf<M> = JobMap, N extends JobName<M> = JobName<M>> = {
  [K in N]: Job<DataOf<M, K>, ResultOf<M, K>, K>;
}[N];

/** As {@link AnyJob}, of jobs fetched by hand. */
export type AnyManualJob<M extends JobMapOf<M> = JobMap, N extends JobName<M> = JobName<M>> = {
  [K in N]: ManualJob<DataOf<M, K>, ResultOf<M, K>, K>;
}[N];

/** How a job is fetched by hand. */
export interface NextJobOptions {
  /** False: only look, and do not wait for one. Default true. */
  readonly block?: boolean | undefined;
  /** How long to wait for one, in ms. Default 5 000. */
  readonly timeout?: number | undefined;
  /** Whether the worker renews the lease while the job is held. Default true. */
  readonly renew?: boolean | undefined;
}

/** A result as a handler returns it: nothing at all where the result may be `undefined`. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without a return gives it
type Returned<R> = undefined extends R ? R | void : R;

/**
 * Does the work of one job. What it returns is stored as JSON; what it throws fails the attempt. It returns
 * the result its kind has in the map, of several kinds one of theirs.
 */
export type Handler<M extends JobMapOf<M> = JobMap> = (
  job: AnyJob<M>,
  context: JobContext,
) => Promise<Returned<ResultOf<M, JobName<M>>>> | Returned<ResultOf<M, JobName<M>>>;

/** Events of a worker. */
export interface WorkerEvents<M extends JobMapOf<M> = JobMap> {
  /** The worker is connected and claims. */
  ready: [];
  active: [job: AnyJob<M>];
  completed: [job: AnyJob<M>, result: ResultOf<M, JobName<M>>];
  /** An attempt failed; `retry` tells whether another follows. */
  failed: [job: AnyJob<M>, error: unknown, retry: boolean];
  /** The run's lease was lost: another worker has the job, or will. Its result is not written. */
  lost: [job: AnyJob<M>, error: LeaseLostError];
  /** A job whose worker died was put back in line. */
  stalled: [jobId: string];
  /** Nothing is left to claim. */
  drained: [];
  error: [error: EchoMQError];
  closed: [];
}

/** How a worker closes. */
export interface CloseOptions {
  /** How long running jobs may take to end, in ms; then they go back to the queue. Default 30 000. */
  readonly timeout?: number | undefined;
}
