import { storedOptions } from "../job/fields.js";
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

/** Takes how a run ended. */
export type Done = (run: Run, end: Settlement | null) => void;

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

  /** Runs one job; `done` is told once, later, how the run ended: null when nothing may be written any more. */
  execute(run: Run, done: Done): void {
    let job: AnyJob<M>;
    try {
      job = this.#host.job(run);
      const unread = payloadFault(job);
      if (unread !== undefined) throw unread;
    } catch (unread) {
      queueMicrotask(() => settle(failed(run, unread, this.#settings), (end) => done(run, end)));
      return;
    }
    run.job = job;
    // Of the run, not of the job: others may have changed that one.
    const opts = storedOptions(run.fields);
    const ttl = msOf(opts.ttl);
    if (ttl === undefined || run.ats !== 1) this.#start(run, job, opts, done);
    else
      void this.#unlessLate(run, job, ttl).then((end) => {
        if (end === undefined) this.#start(run, job, opts, done);
        else done(run, end);
      });
  }

  #start(run: Run, job: AnyJob<M>, opts: Readonly<Record<string, unknown>>, done: Done): void {
    this.#host.active(job);
    const timeout = msOf(opts.timeout) ?? this.#settings.jobTimeoutMs;
    const timer =
      timeout === undefined ? undefined : setTimeout(() => this.#timeOut(run, timeout), timeout);
    let open = true;
    const end = (settlement: Settlement | null): void => {
      if (!open) return;
      open = false;
      clearTimeout(timer);
      done(run, run.lost ? null : settlement);
    };
    run.quit = () => end(null);
    const thrown = (error: unknown): void => {
      if (run.lost) end(null);
      else void this.#thrown(run, error).then(end);
    };
    try {
      // Promises cost more than the rest of an empty job: one, beside that of the handler.
      Promise.resolve(this.#host.call(job, run)).then((value) => {
        try {
          settle(this.#returned(run, value), end);
        } catch (error) {
          thrown(error);
        }
      }, thrown);
    } catch (error) {
      thrown(error);
    }
  }

  /** Ends a run whose handler goes on: tells the handler, and after a while frees its slot. */
  stop(run: Run, error: Error, end: Settlement | Promise<Settlement>): void {
    run.abort(error);
    settle(end, (settlement) => this.#host.settle(settlement));
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

  /** How a run ends whose job waited too long; undefined where it did not. */
  async #unlessLate(run: Run, job: AnyJob<M>, ttl: number): Promise<Settlement | null | undefined> {
    const late = await this.#late(job, ttl);
    if (run.lost) return null;
    if (!late) return undefined;
    run.uncounted = true;
    return ended(run, new ExpiredError(run.id, ttl), this.#settings);
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

/** Tells how a run ends, at once where that is known. */
function settle<End extends Settlement | null>(
  end: End | Promise<End>,
  tell: (settlement: End) => void,
): void {
  if (isPromise(end)) void end.then(tell);
  else tell(end);
}

/** A stored time in ms; what no version of this package stores is none. */
function msOf(value: unknown): number | undefined {
  if (typeof value !== "number" || !Number.isInteger(value)) return undefined;
  return value >= 1 && value <= TIMER_MAX_MS ? value : undefined;
}
