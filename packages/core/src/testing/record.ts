import type { JobMapOf } from "../job/types.js";
import type { AnyJob } from "../worker/types.js";
import type { Worker } from "../worker/worker.js";
import type { CompletedJob, FailedJob } from "./types.js";

/** Notes what a worker tells. */
export class Recorder<M extends JobMapOf<M>> {
  readonly completed: CompletedJob<M>[] = [];
  readonly failed: FailedJob<M>[] = [];
  readonly retried: FailedJob<M>[] = [];
  /** The last trouble the worker has told. */
  trouble: Error | undefined;
  runs = 0;

  /** Changes with whatever happens. */
  get progress(): number {
    return this.runs + this.completed.length + this.failed.length + this.retried.length;
  }

  /** `begun` is called with how many runs there were, before each begins. */
  constructor(worker: Worker<M>, begun: (runs: number) => void) {
    worker.on("active", () => {
      this.runs += 1;
      begun(this.runs);
    });
    worker.on("completed", (job) => {
      this.completed.push({ ...identity<M>(job), result: job.returnvalue } as CompletedJob<M>);
    });
    worker.on("failed", (job, error, retry) => {
      const reason = job.failedReason ?? "";
      const one = { ...identity<M>(job), reason, error, attempts: job.attemptsMade };
      (retry ? this.retried : this.failed).push(one as FailedJob<M>);
    });
    worker.on("error", (error) => {
      this.trouble = error;
    });
  }
}

function identity<M extends JobMapOf<M>>({ id, name, data }: AnyJob<M>): object {
  return { id, name, data };
}
