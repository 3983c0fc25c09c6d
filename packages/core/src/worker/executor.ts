import { payloadFault } from "../job/payload.js";
import type { JobMapOf } from "../job/types.js";
import { TIMER_MAX_MS } from "../options/limits.js";
import { isPromise } from "../options/schema.js";
import { controlOf } from "./control.js";
import { ExpiredError, JobTimeoutError } from "./errors.js";
import type { WorkerSettings } from "./options.js";
import { ended, failed, moved, released, type Settlement, succeeded } from "./outcome.js";
import type { Run } from "./run.js";
import type { AnyJob } from "./types.js";

/** How long a handler that was told to stop may keep its slot, in ms. */
const GRACE_MS = 5_000;

/** What an executor needs of its worker. */
export interface ExecutorHost<M extends JobMapOf<M>> {
  job(run: Run): AnyJob<M>;
  /** Runs the handler; may throw or reject with anything. */
  call(job: AnyJob<M>, run: Run): unknown;
  /** The handler is about to run. */
  active(job: AnyJob<M>): void;
  /** Server ms. */
  now(): Promise<number>;
  /** Holds the queue back for `ms`. */
  rateLimit(ms: number): Promise<void>;
  /** Ends a run from outside its handler. */
  settle(settlement: Settlement): void;
  trouble(error: unknown): void;
}

/** Runs handlers, and says how each run ended. */
export class Executor<M extends JobMapOf<M>> {
  readonly #settings: WorkerSettings;
  readonly #host: ExecutorHost<M>;

  constructor(settings: WorkerSettings, host: ExecutorHost<M>) {
    this.#settings = settings;
    this.#host = host;
  }

  /** Resolves to how the run ended; null when nothing may be written any more. Never rejects. */
  async execute(run: Run): Promise<Settlement | null> {
    const job = this.#host.job(run);
    run.job = job;
    const unread = payloadFault(job);
    if (unread !== undefined) return failed(run, unread, this.#settings);
    const ttl = msOf(job.opts.ttl);
    if (ttl !== undefined && run.ats === 1) {
      const late = await this.#late(job, ttl);
      if (run.lost) return null;
      if (late) {
        run.uncounted = true;
        return ended(run, new ExpiredError(run.id, ttl), this.#settings);
      }
    }
    this.#host.active(job);
    const timeout = msOf(job.opts.timeout) ?? this.#settings.jobTimeoutMs;
    const timer =
      timeout === undefined ? undefined : setTimeout(() => this.#timeOut(run, timeout), timeout);
    const end = await new Promise<Settlement | null>((resolve) => {
      run.quit = () => resolve(null);
      const thrown = (error: unknown): void => resolve(run.lost ? null : this.#thrown(run, error));
      try {
        const result = this.#host.call(job, run);
        Promise.resolve(result)
          .then((value) => this.#returned(run, value))
          .then(resolve, thrown);
      } catch (error) {
        thrown(error);
      }
    });
    clearTimeout(timer);
    return run.lost ? null : end;
  }

  /** Ends a run whose handler goes on: tells the handler, and after a while frees its slot. */
  stop(run: Run, error: Error, end: Settlement | Promise<Settlement>): void {
    run.abort(error);
    if (isPromise(end)) void end.then((settlement) => this.#host.settle(settlement));
    else this.#host.settle(end);
    this.release(run);
  }

  /** Frees the slot of a handler that was told to stop, a while later: it may never end. */
  release(run: Run): void {
    setTimeout(() => run.quit?.(), GRACE_MS).unref();
  }

  #returned(run: Run, result: unknown): Settlement | Promise<Settlement> | null {
    if (run.lost) return null;
    return run.move ? moved(run, run.move) : succeeded(run, result, this.#settings);
  }

  async #thrown(run: Run, thrown: unknown): Promise<Settlement> {
    const control = controlOf(thrown, run.move);
    if (control === undefined) return failed(run, thrown, this.#settings);
    if (control.to === "nowhere") {
      const why = "DelayedError without a delay, and job.moveToDelayed was not called";
      return failed(run, new Error(why, { cause: thrown }), this.#settings);
    }
    if (control.to !== "head") return moved(run, control);
    if (control.delay !== undefined) {
      await this.#host.rateLimit(control.delay).catch((error: unknown) => {
        this.#host.trouble(error);
      });
    }
    return released(run);
  }

  #timeOut(run: Run, timeout: number): void {
    if (run.lost || run.settling) return;
    const error = new JobTimeoutError(run.id, timeout);
    this.stop(run, error, failed(run, error, this.#settings));
  }

  async #late(job: AnyJob<M>, ttl: number): Promise<boolean> {
    try {
      return (await this.#host.now()) > job.timestamp + job.delay + ttl;
    } catch (error) {
      // Without the server's time nobody knows; the claim itself was in time as far as anybody can tell.
      this.#host.trouble(error);
      return false;
    }
  }
}

/** A stored time in ms; what no version of this package stores is none. */
function msOf(value: unknown): number | undefined {
  if (typeof value !== "number" || !Number.isInteger(value)) return undefined;
  return value >= 1 && value <= TIMER_MAX_MS ? value : undefined;
}
