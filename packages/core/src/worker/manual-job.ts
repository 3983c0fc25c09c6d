import type { LazySession } from "../connection/lazy.js";
import { Job, type JobInit } from "../job/job.js";
import { refuse, whole } from "../options/check.js";
import { LEASE_MAX_MS, LEASE_MIN_MS } from "../options/limits.js";

/** What a job fetched by hand may do with its run. */
export interface ManualRun {
  readonly token: string;
  readonly signal: AbortSignal;
  /** Ends the run; resolves once that is written. */
  complete(value: unknown): Promise<void>;
  fail(error: unknown): Promise<void>;
  /** Moves the end of the lease to `ms` from now. */
  extend(ms: number): Promise<void>;
}

/**
 * A job fetched by hand. It is held until one of its `moveTo` methods is called, once; each resolves
 * when the move is written, and rejects with the reason when the run has ended otherwise meanwhile.
 */
export class ManualJob<Data = unknown, Result = unknown, Name extends string = string> extends Job<
  Data,
  Result,
  Name
> {
  readonly #run: ManualRun;

  constructor(init: JobInit, session: LazySession, run: ManualRun) {
    super(init, session);
    this.#run = run;
  }

  /** Token of its lease, or the one `getNextJob` was given. */
  get token(): string {
    return this.#run.token;
  }

  /** Aborts with a typed reason when the run must not go on, as that of a handler. */
  get signal(): AbortSignal {
    return this.#run.signal;
  }

  /**
   * Completes the job with a result, which may be left out where the job's kind needs none.
   * @throws ValidationError for a result that cannot be stored; the run's own end, such as
   * `LeaseLostError` or `CancelledError`; `EchoMQError` `EMQSTATE` when it was moved before.
   */
  moveToCompleted(
    ...[value]: undefined extends Result ? [value?: Result] : [value: Result]
  ): Promise<void> {
    return this.#run.complete(value);
  }

  /**
   * Fails the attempt: another follows after the job's backoff, if it has one left.
   * @throws as {@link moveToCompleted}.
   */
  moveToFailed(error: unknown): Promise<void> {
    return this.#run.fail(error);
  }

  /**
   * Moves the end of the lease to `ms` from now, 100 to 86 400 000; a renewal may move it again.
   * @throws ValidationError; the run's own end; `ServerError`.
   */
  async extendLock(ms: number): Promise<void> {
    await this.#run.extend(
      whole("ms", ms, LEASE_MIN_MS, LEASE_MAX_MS) ?? refuse("ms", "is required"),
    );
  }
}
