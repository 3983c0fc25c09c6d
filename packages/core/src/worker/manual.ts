import { EchoMQError } from "@echomq/wire";
import { closedError } from "../connection/lazy.js";
import type { RunControl } from "../job/moves.js";
import type { Codec } from "../options/serializer.js";
import { ShortLivedMap } from "../short-lived.js";
import { DelayedError, RateLimitError, WaitingError } from "./errors.js";
import type { ManualRun } from "./manual-job.js";
import type { Move, Run } from "./run.js";

/** How a job is fetched by hand. */
export interface NextJob {
  /** Token the job is to have instead of that of its lease. */
  readonly token: string | undefined;
  /** How long to wait for one, in ms. */
  readonly waitMs: number;
  /** Ends the wait as soon as the queue is found empty. */
  readonly look: boolean;
  /** Whether the worker renews its lease. */
  readonly renew: boolean;
}

/** What fetching by hand needs of the worker. */
export interface ManualHost {
  /** Name of the queue. */
  readonly queue: string;
  readonly codec: Codec;
  /** Jobs wanted and held have become `count`; `asked` when somebody wants one more. */
  want(count: number, asked: boolean): void;
  extend(run: Run, ms: number): Promise<void>;
}

interface Waiter<J> extends NextJob {
  give(job: J | undefined): void;
}

/** A run that a caller holds. */
class Held {
  readonly token: string;
  readonly ended: PromiseWithEnds<unknown> = withEnds();
  readonly written: PromiseWithEnds<void> = withEnds();
  moved = false;

  constructor(token: string) {
    this.token = token;
    // Nobody may be waiting for it.
    this.written.promise.catch(() => undefined);
  }
}

/** Hands claimed jobs to callers that ask for one, and takes their ends from them. */
export class Manual<J> {
  readonly #host: ManualHost;
  readonly #waiters: Waiter<J>[] = [];
  readonly #held = new ShortLivedMap<Run, Held>();
  #closed = false;

  constructor(host: ManualHost) {
    this.#host = host;
  }

  /** True while a caller waits for a job. */
  get wanting(): boolean {
    return this.#waiters.length > 0;
  }

  /**
   * The next job; undefined when none came in time.
   * @throws `EchoMQError` `CLOSED`.
   */
  async next(options: NextJob): Promise<J | undefined> {
    if (this.#closed) throw closedError("Worker.getNextJob", this.#host.queue);
    return new Promise((resolve) => {
      const waiter: Waiter<J> = {
        ...options,
        give: (job) => {
          clearTimeout(timer);
          const at = this.#waiters.indexOf(waiter);
          if (at >= 0) this.#waiters.splice(at, 1);
          resolve(job);
        },
      };
      const timer = setTimeout(() => {
        waiter.give(undefined);
        // No job is claimed for a caller that has gone.
        this.#count();
      }, options.waitMs);
      this.#waiters.push(waiter);
      this.#count(true);
    });
  }

  /** The queue is empty: who wanted only a look is told, and no more is claimed than is wanted. */
  empty(): void {
    for (const waiter of [...this.#waiters]) if (waiter.look) waiter.give(undefined);
    this.#count();
  }

  /** Hands a claimed job over; resolves to its result, and rejects as a handler would. */
  async handle(run: Run, job: J): Promise<unknown> {
    const waiter = this.#waiters[0];
    // The caller has gone meanwhile: back to the head of the line, as if it had not been claimed.
    if (waiter === undefined) {
      this.#count();
      throw new RateLimitError();
    }
    const held = new Held(waiter.token ?? run.token);
    this.#held.set(run, held);
    run.renews = waiter.renew;
    waiter.give(job);
    return held.ended.promise;
  }

  /** What the job of a run may do with it. */
  control(run: Run): ManualRun & RunControl {
    return new Control({
      token: () => this.#held.get(run)?.token ?? run.token,
      signal: run.signal,
      complete: async (value) => {
        if (value !== undefined) this.#host.codec.write("value", value);
        await this.#end(run, (held) => held.ended.resolve(value));
      },
      fail: (error) => this.#end(run, (held) => held.ended.reject(error)),
      moveTo: (move) => this.#end(run, (held) => held.ended.reject(errorOf(move))),
      extend: async (ms) => {
        run.throwIfLost();
        await this.#host.extend(run, ms);
      },
    });
  }

  /** The end of a run was written, or it ended otherwise. */
  over(run: Run, error?: Error): void {
    const held = this.#held.get(run);
    if (held === undefined) return;
    this.#held.delete(run);
    held.ended.resolve(undefined);
    // What ended it from outside is told to a caller that comes too late.
    const why = error ?? run.reason;
    if (why === undefined) held.written.resolve();
    else held.written.reject(why);
    this.#count();
  }

  /** Lets every caller go that waits. */
  close(): void {
    this.#closed = true;
    for (const waiter of [...this.#waiters]) waiter.give(undefined);
  }

  /** Tells every caller that still holds a job that it went back to the queue. */
  drop(): void {
    for (const run of this.#held.keys())
      this.over(run, closedError("Worker.getNextJob", this.#host.queue));
  }

  async #end(run: Run, end: (held: Held) => void): Promise<void> {
    const held = this.#held.get(run);
    if (held === undefined || run.lost) {
      run.throwIfLost();
      throw movedError(this.#host.queue, run.id);
    }
    if (held.moved) throw movedError(this.#host.queue, run.id);
    held.moved = true;
    // Before its slot is free, or another job would be claimed for it.
    this.#count();
    end(held);
    await held.written.promise;
  }

  #count(asked = false): void {
    const held = this.#held.values().filter(({ moved }) => !moved);
    this.#host.want(this.#waiters.length + held.length, asked);
  }
}

function movedError(queue: string, jobId: string): EchoMQError {
  const message = "it was moved already: fetch another one";
  return new EchoMQError({ code: "EMQSTATE", message, op: "ManualJob", queue, jobId });
}

function errorOf(move: Move): Error {
  return move.to === "wait" ? new WaitingError() : new DelayedError(move.delay);
}

interface PromiseWithEnds<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

function withEnds<T>(): PromiseWithEnds<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

type Parts = Omit<ManualRun & RunControl, "token"> & { readonly token: () => string };

/** A class, since V8 makes a hidden class for an accessor of each object's own, which outlives both. */
class Control implements ManualRun, RunControl {
  readonly #token: () => string;
  readonly signal: AbortSignal;
  readonly complete: ManualRun["complete"];
  readonly fail: ManualRun["fail"];
  readonly moveTo: RunControl["moveTo"];
  readonly extend: ManualRun["extend"];

  constructor({ token, signal, complete, fail, moveTo, extend }: Parts) {
    this.#token = token;
    this.signal = signal;
    this.complete = complete;
    this.fail = fail;
    this.moveTo = moveTo;
    this.extend = extend;
  }

  get token(): string {
    return this.#token();
  }
}
