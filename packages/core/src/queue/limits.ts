import type { LazySession } from "../connection/lazy.js";
import type { JobMap, JobMapOf } from "../job/types.js";
import { QueueAdmin } from "./admin.js";
import {
  getGlobalConcurrency,
  getGlobalRateLimit,
  getRateLimitTtl,
  type RateLimit,
  rateLimit,
  removeGlobalRateLimit,
  setGlobalConcurrency,
  setGlobalRateLimit,
} from "./verbs/limits.js";

/**
 * Limits of a whole queue. They hold for all its workers from their next claim on, and no job loses its
 * place by them. Each method may throw `FenceError` or `ServerError`, and `ValidationError` naming the
 * argument before anything is sent.
 */
export abstract class QueueLimits<M extends JobMapOf<M> = JobMap> extends QueueAdmin<M> {
  readonly #lazy: LazySession;

  constructor(lazy: LazySession) {
    super(lazy);
    this.#lazy = lazy;
  }

  /** Lets at most this many jobs of the queue run at once, over all workers; null lifts the limit. */
  setGlobalConcurrency(concurrency: number | null): Promise<void> {
    return setGlobalConcurrency(this.#lazy, concurrency);
  }

  /** As `setGlobalConcurrency(null)`. */
  removeGlobalConcurrency(): Promise<void> {
    return setGlobalConcurrency(this.#lazy, null);
  }

  /** How many jobs of the queue may run at once; null without a limit. */
  getGlobalConcurrency(): Promise<number | null> {
    return getGlobalConcurrency(this.#lazy);
  }

  /** Lets at most `max` jobs start in a window of `duration` ms, which begins with its first job. */
  setGlobalRateLimit(max: number, duration: number): Promise<void> {
    return setGlobalRateLimit(this.#lazy, max, duration);
  }

  /** Lifts the rate; a hold by {@link rateLimit} goes on. */
  removeGlobalRateLimit(): Promise<void> {
    return removeGlobalRateLimit(this.#lazy);
  }

  /** The queue's rate; null without one. */
  getGlobalRateLimit(): Promise<RateLimit | null> {
    return getGlobalRateLimit(this.#lazy);
  }

  /** Lets no worker start a job for `ms`; what runs goes on. 0 ends it. */
  rateLimit(ms: number): Promise<void> {
    return rateLimit(this.#lazy, ms, "Queue.rateLimit");
  }

  /**
   * Ms until the rate, or {@link rateLimit}, lets another job start; 0 when one may start now. `maxJobs`
   * stands for the rate of a worker's `limiter`.
   */
  getRateLimitTtl(maxJobs?: number): Promise<number> {
    return getRateLimitTtl(this.#lazy, maxJobs);
  }
}
