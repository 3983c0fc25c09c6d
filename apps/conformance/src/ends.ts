import type { JobMap, Worker } from "@echomq/core";
import { isEchoMQError } from "@echomq/wire";

/** How one job ended for good. */
export interface End {
  readonly how: "completed" | "failed";
  readonly attempts: number;
}

/** Hears from a worker how its jobs end, also of those that ended before anyone asked. */
export class Ends {
  readonly worker: Worker<JobMap>;
  /** Settles with the error that ended the worker. */
  readonly fatal: Promise<Error>;
  readonly #ended = new Map<string, End>();
  readonly #waiting = new Map<string, (end: End) => void>();

  constructor(worker: Worker<JobMap>) {
    this.worker = worker;
    this.fatal = new Promise((resolve) => {
      worker.on("error", (error) => {
        const { transient } = error as { readonly transient?: boolean };
        // After EMQFENCE the worker asks the boot fence, whose code says more and follows.
        if (transient !== true && !isEchoMQError(error, "EMQFENCE")) resolve(error);
      });
    });
    worker.on("completed", (job) => {
      this.#end(job.id, { how: "completed", attempts: job.attemptsMade });
    });
    worker.on("failed", (job, _error, retry) => {
      if (!retry) this.#end(job.id, { how: "failed", attempts: job.attemptsMade });
    });
  }

  /**
   * Waits until each of these jobs has ended.
   * @throws the error that ends the worker before.
   */
  async all(ids: readonly string[]): Promise<readonly End[]> {
    const broken = this.fatal.then((error): never => {
      throw error;
    });
    return Promise.race([Promise.all(ids.map((id) => this.#of(id))), broken]);
  }

  #of(id: string): Promise<End> {
    const known = this.#ended.get(id);
    if (known) return Promise.resolve(known);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  #end(id: string, end: End): void {
    this.#ended.set(id, end);
    this.#waiting.get(id)?.(end);
  }
}
