import type { CheckedJobOptions } from "../options/job-options.js";

/**
 * How long `push` is left alone after the queue said that it needs `add`, in ms: until then each add that tried
 * would take two calls.
 */
const REFUSED_MS = 60_000;

interface Optioned {
  readonly opts: CheckedJobOptions;
}

/** Decides between `push`, which declares the fewest keys, and `add`, which knows everything. */
export class Lean {
  #refusedUntil = 0;

  /** Whether jobs may be pushed. */
  fits(jobs: readonly Optioned[]): boolean {
    return this.open && jobs.every(isPlain);
  }

  /** False for a while after a refusal. */
  get open(): boolean {
    return performance.now() >= this.#refusedUntil;
  }

  /** The queue has a limit. */
  refused(): void {
    this.#refusedUntil = performance.now() + REFUSED_MS;
  }
}

/** True for a job that goes to the back of the line and nowhere else. */
function isPlain({ opts }: Optioned): boolean {
  return (
    opts.jobId === undefined &&
    opts.delay === 0 &&
    opts.runAt === undefined &&
    opts.priority === 0 &&
    !opts.lifo &&
    opts.deduplication === undefined
  );
}
