import {
  type AnyManualJob,
  DelayedError,
  type JobMap,
  RateLimitError,
  UnrecoverableError,
  Worker,
} from "../../../src/index.js";
import type { Life } from "./driver.js";
import type {
  Claimed,
  ClaimHow,
  End,
  HeldRun,
  ModelWorker,
  Step,
  Turn,
  WorkerParts,
} from "./workers.js";

type Held = AnyManualJob<JobMap>;

/** A worker as its users have it, whose jobs are fetched by hand. */
export class HandWorker implements ModelWorker {
  readonly runs: Held[] = [];
  readonly #worker: Worker;
  readonly #life: Life;

  private constructor(worker: Worker, life: Life) {
    this.#worker = worker;
    this.#life = life;
  }

  static async open({ q, driver, life, leaseMs }: WorkerParts): Promise<HandWorker> {
    const worker = new Worker(q, null, {
      connection: driver,
      lockDuration: leaseMs,
      stalledInterval: leaseMs,
      maxStalledCount: 1,
    });
    worker.on("error", () => undefined);
    await worker.waitUntilReady();
    return new HandWorker(worker, life);
  }

  async turn(ends: readonly End[], count: number, _how: ClaimHow): Promise<Turn> {
    const before: Step[] = [];
    for (const end of ends) before.push([[end, await this.#end(end)]]);
    const claimed: Claimed[] = [];
    if (count > 0) {
      const job = await this.#worker.getNextJob(undefined, { block: false });
      if (job) {
        this.runs.push(job);
        claimed.push({ run: job, doomed: false, begun: true });
      }
      await this.#still();
    }
    return { lean: false, before, claimed, after: [] };
  }

  async renew(run: HeldRun, ms: number): Promise<"renewed" | "lost" | "ended"> {
    const job = run as Held;
    const end = await job.extendLock(ms).then(() => undefined, codeOf);
    if (end === undefined) return "renewed";
    this.#drop(job);
    await this.#still();
    return end === "LEASE_LOST" ? "lost" : "ended";
  }

  begun(): boolean {
    return true;
  }

  kill(): void {
    this.#life.kill();
    void this.#worker.close({ timeout: 0 });
  }

  async close(): Promise<void> {
    await this.#worker.close({ timeout: 0 });
  }

  async #end(end: End): Promise<boolean> {
    const job = end.run as Held;
    this.#drop(job);
    return (await moveOf(job, end).then(() => undefined, codeOf)) === undefined;
  }

  #drop(job: Held): void {
    this.runs.splice(this.runs.indexOf(job), 1);
  }

  /** What was claimed and doomed is settled behind the caller's back. */
  async #still(): Promise<void> {
    for (let look = 0; this.#worker.active > this.runs.length; look += 1) {
      if (look === 2_000) throw new Error("a doomed run is not settled");
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
}

function moveOf(job: Held, { how, text, delay }: End): Promise<void> {
  if (how === "complete") return job.moveToCompleted(text);
  if (how === "fail") return job.moveToFailed(new Error(text));
  if (how === "fatal") return job.moveToFailed(new UnrecoverableError(text));
  if (how === "later") return job.moveToFailed(new DelayedError(delay));
  return how === "back" ? job.moveToWait() : job.moveToFailed(new RateLimitError());
}

/** Why a run cannot go on; anything else is a failure of the test. */
function codeOf(error: { code?: string }): string {
  if (error.code === "LEASE_LOST" || error.code === "CANCELLED") return error.code;
  throw error;
}
