import { setTimeout as sleep } from "node:timers/promises";
import { closedError } from "../connection/lazy.js";
import type { JobMap, JobMapOf } from "../job/types.js";
import type { Queue } from "../queue/queue.js";
import type { Processor } from "../worker/handler.js";
import { type Parts, partsOf } from "../worker/parts.js";
import { Worker } from "../worker/worker.js";
import { DrainLimitError } from "./errors.js";
import {
  type DrainOptions,
  type DrainSettings,
  drainSettings,
  type QueueAddress,
} from "./options.js";
import { Recorder } from "./record.js";
import { type Standing, standing } from "./standing.js";
import type { Drained } from "./types.js";

/** Time until the next look at a queue that could be worked on and is not yet, in ms. */
const LOOK_MS = 5;
/** Longest wait for what runs, in ms; then it is asked again. */
const CALL_MS = 30_000;
/** How long nothing may happen although something could run, in ms; then it is left. */
const STUCK_MS = 5_000;

/**
 * Works every job of a queue that can run now, in this process, with a worker of its own: those in line,
 * those that are due, those whose worker's lease has ended, and what they add or retry. With `delayed` the
 * clock is moved on so that the rest runs too. Resolves when nothing is left that can run: a paused queue
 * keeps its jobs, one with a rate those behind it.
 * @throws ValidationError naming the option; `ConfigError` for `delayed` without a clock;
 * `DrainLimitError` `DRAIN_LIMIT` with what had happened, when `limit` runs did not end it; `FenceError`
 * or `ServerError`.
 */
export async function drainQueue<M extends JobMapOf<M> = JobMap>(
  queue: Queue<M> | QueueAddress,
  processor: NonNullable<Processor<M>>,
  options?: DrainOptions,
): Promise<Drained<M>> {
  const settings = drainSettings(queue, options);
  const worker = new Worker<M>(settings.name, processor, settings.worker);
  const drain = new Drain(worker, settings);
  try {
    return await drain.run();
  } finally {
    await worker.close({ timeout: 0 });
  }
}

class Drain<M extends JobMapOf<M>> {
  readonly #worker: Worker<M>;
  readonly #settings: DrainSettings;
  readonly #seen: Recorder<M>;
  #advanced = 0;

  constructor(worker: Worker<M>, settings: DrainSettings) {
    this.#worker = worker;
    this.#settings = settings;
    this.#seen = new Recorder(worker, () => {
      if (this.#spent) worker.pause();
    });
  }

  async run(): Promise<Drained<M>> {
    const { clock, limit, name } = this.#settings;
    await this.#worker.run();
    const parts = partsOf(this.#worker);
    if (!parts) throw closedError("drainQueue");
    const { session, sweeper } = parts;
    for (;;) {
      await session.fence.look(session.main, () => sweeper.sweep());
      const left = await this.#work(parts);
      const more = clock !== undefined && left.wait !== undefined;
      if (this.#spent && (left.runnable || more)) {
        throw new DrainLimitError(name, limit, this.#told(left) as Drained);
      }
      if (!more || this.#spent) {
        await parts.postman.deliver();
        return this.#told(left);
      }
      await clock.advance(left.wait);
      this.#advanced += left.wait;
    }
  }

  get #spent(): boolean {
    return this.#seen.runs >= this.#settings.limit;
  }

  /** Works until nothing runs and nothing can. */
  async #work(parts: Parts): Promise<Standing> {
    const { engine } = parts;
    let since = performance.now();
    for (;;) {
      if (!this.#worker.isRunning()) throw this.#seen.trouble ?? closedError("drainQueue");
      await engine.quiet(CALL_MS);
      const before = this.#seen.progress;
      const left = await this.#look(parts);
      // A claim that was on its way while the queue was looked at has begun its job by now.
      await engine.quiet(CALL_MS);
      if (this.#seen.progress !== before || this.#worker.active > 0) {
        since = performance.now();
        continue;
      }
      const stuck = performance.now() - since > STUCK_MS;
      if (!left.runnable || this.#spent || stuck) return left;
      engine.wake();
      await sleep(LOOK_MS);
    }
  }

  #look(parts: Parts): Promise<Standing> {
    const { limiter } = this.#settings.worker;
    const shared = limiter !== undefined && limiter.scope !== "worker";
    return standing(parts, shared ? limiter.max : undefined, this.#worker.active);
  }

  #told({ counts }: Standing): Drained<M> {
    const { completed, failed, retried, runs } = this.#seen;
    return { completed, failed, retried, runs, advanced: this.#advanced, counts };
  }
}
