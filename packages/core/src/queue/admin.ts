import type { LazySession } from "../connection/lazy.js";
import type { JobMap, JobMapOf } from "../job/types.js";
import { QueueGetters } from "./getters.js";
import { cancelJob } from "./verbs/cancel.js";
import { type CleanType, clean } from "./verbs/clean.js";
import { drain } from "./verbs/drain.js";
import { type ObliterateOptions, obliterate } from "./verbs/obliterate.js";
import { type PromoteJobsOptions, promoteJobs } from "./verbs/promote.js";
import { type RedriveOptions, redrive } from "./verbs/redrive.js";
import { removeJob } from "./verbs/remove.js";
import { type RetryJobsOptions, retryJobs } from "./verbs/retry.js";

/**
 * What changes jobs of a queue by hand. Verbs on many jobs go in bounded steps: one that is interrupted
 * has done what it has done, and a second call goes on. Each method may throw `FenceError`, or
 * `ServerError` for the server's or the connection's own trouble; `ValidationError` before anything is
 * sent.
 */
export abstract class QueueAdmin<M extends JobMapOf<M> = JobMap> extends QueueGetters<M> {
  readonly #lazy: LazySession;

  constructor(lazy: LazySession) {
    super(lazy);
    this.#lazy = lazy;
  }

  /**
   * Removes one job in any state but active; resolves to 1, or to 0 when there was none.
   * @throws ValidationError naming `id`; `WireError` `EMQSTATE` for an active job.
   */
  remove(id: string): Promise<number> {
    return removeJob(this.#lazy, id, "Queue.remove");
  }

  /**
   * Puts failed jobs, or completed ones, back in line: oldest first, each behind all others of its
   * priority. Resolves to how many. Jobs that end again meanwhile are left alone.
   * @throws ValidationError naming the option; `WireError` `EMQSTATE` while the queue is being obliterated.
   */
  retryJobs(options?: RetryJobsOptions): Promise<number> {
    return retryJobs(this.#lazy, options);
  }

  /**
   * Moves all delayed jobs to the back of their line now, the next due first; resolves to how many.
   * @throws ValidationError naming the option.
   */
  promoteJobs(options?: PromoteJobsOptions): Promise<number> {
    return promoteJobs(this.#lazy, options);
  }

  /**
   * Removes jobs of one state that are older than `grace` ms, oldest first, at most `limit` (0 for all),
   * and resolves to their ids. Completed and failed jobs are judged by their end, others by when they
   * were added. Jobs that move meanwhile may be missed.
   * @throws ValidationError naming `grace`, `limit` or `type`.
   */
  clean(grace: number, limit: number, type?: CleanType): Promise<string[]> {
    return clean(this.#lazy, grace, limit, type);
  }

  /**
   * Removes all jobs in line, and the delayed ones too when `delayed`; resolves to how many. Active and
   * ended jobs stay, and so do jobs added meanwhile.
   * @throws ValidationError naming `delayed`.
   */
  drain(delayed?: boolean): Promise<number> {
    return drain(this.#lazy, delayed);
  }

  /**
   * Removes all jobs, events and counts of the queue; its settings stay. Until it has ended the queue
   * takes no job and gives none out; a call that was interrupted leaves it so, and a second one goes on.
   * Afterwards the queue is not paused.
   * @throws ValidationError naming the option; `WireError` `EMQSTATE` while jobs are active, without
   * `force`, or when something cannot be emptied.
   */
  obliterate(options?: ObliterateOptions): Promise<void> {
    return obliterate(this.#lazy, options);
  }

  /**
   * Called on a dead-letter queue: moves its waiting letters back to the queue each came from, oldest
   * first, and resolves to how many. A job that still stands there as failed is retried with its attempts
   * at 0, one that is gone is added anew under its id. An interrupted call may bring a job back that a
   * second call finds back already.
   * @throws ValidationError naming the option; `WireError` `EMQFULL` or `EMQSTATE` when the queue takes none.
   */
  redrive(options?: RedriveOptions): Promise<number> {
    return redrive(this.#lazy, options);
  }

  /**
   * Says of a job that it must end. One that runs learns it through its `AbortSignal`; one in line or
   * delayed moves to the head of the line and fails without running, in a paused queue after `resume`.
   * @throws ValidationError naming `id` or `reason`; `WireError` `EMQSTATE` for a job that has ended or
   * waits for its children, `EMQMISSING` when there is none.
   */
  cancel(id: string, reason?: string): Promise<void> {
    return cancelJob(this.#lazy, id, reason, "Queue.cancel");
  }
}
