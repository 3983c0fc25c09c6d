import { randomBytes } from "node:crypto";
import { finishScript, type RedisDriver } from "@echomq/scripts";
import { FlakyPlan, flakyDriver } from "@echomq/testkit";
import { type Unit, unitKey } from "@echomq/wire";
import type { Redis } from "ioredis";
import { Session } from "../../../src/connection/session.js";
import { Queue } from "../../../src/index.js";
import { Sweeper } from "../../../src/worker/sweeper.js";
import { makeDriver } from "../bench.js";
import { BareWorker } from "./bare-worker.js";
import type { WorldClock } from "./clock.js";
import { Life, ModelDriver } from "./driver.js";
import { HandWorker } from "./hand-worker.js";
import type { ModelWorker } from "./workers.js";

/** Length of a lease: no timer of the process ends one while a test runs. */
export const LEASE_MS = 36_000_000;
/** How often a job may lose its worker. */
export const STALL_BUDGET = 1;

/** The real queue of one run: producers, workers and whoever sweeps, each on connections of its own. */
export class Real {
  readonly q: string = `model-${randomBytes(6).toString("hex")}`;
  readonly clock: WorldClock;
  readonly client: Redis;
  readonly queues: Queue[] = [];
  /** Loses the replies of producers on request. */
  readonly plan = new FlakyPlan();
  readonly workers: ModelWorker[] = [];
  readonly #url: string;
  readonly #lives: Life[] = [];
  #sweep: { readonly session: Session; readonly sweeper: Sweeper } | undefined;

  constructor(url: string, client: Redis, clock: WorldClock) {
    this.#url = url;
    this.client = client;
    this.clock = clock;
  }

  async start(): Promise<void> {
    await this.load();
    const option = { retryTime: 3_000 };
    for (let n = 0; n < 2; n += 1) {
      const { driver } = await this.#driver(false);
      this.queues.push(
        new Queue(this.q, { connection: flakyDriver(driver, this.plan), ...option }),
      );
    }
    for (const at of [0, 1, 2]) this.workers[at] = await this.#worker(at);
    const { driver } = await this.#driver(false);
    const session = await Session.open(this.q, { connection: driver });
    await session.fence.open(session.main, session.clock);
    const settings = { leaseMs: LEASE_MS, sweepMs: LEASE_MS, stallBudget: STALL_BUDGET };
    const sweeper = new Sweeper(session, settings, {
      stalled: () => undefined,
      wake: () => undefined,
      mail: () => undefined,
      trouble: (error) => {
        throw error;
      },
    });
    this.#sweep = { session, sweeper };
  }

  /**
   * Makes the server know `finish`: where it must be sent twice, the claim that was sent behind it comes
   * first, and meets a limit that the settlement would have made room in.
   */
  async load(): Promise<void> {
    await this.client.script("LOAD", finishScript.source);
  }

  unit(unit: Unit): string {
    return unitKey(this.q, unit);
  }

  get queue(): Queue {
    return this.queues[0] as Queue;
  }

  get sweeper(): Sweeper {
    if (this.#sweep === undefined) throw new Error("not started");
    return this.#sweep.sweeper;
  }

  /** Whether whoever sweeps has seen its clock run steadily for the length of a lease. */
  get steady(): boolean {
    return (this.#sweep?.session.clock.steadyFor ?? 0) >= LEASE_MS;
  }

  /** Kills a worker's process and starts another in its place. */
  async crash(at: number): Promise<void> {
    this.workers[at]?.kill();
    this.workers[at] = await this.#worker(at);
  }

  async stop(): Promise<void> {
    await Promise.all(this.queues.map((queue) => queue.close()));
    await this.#sweep?.session.close("now");
    await Promise.all(this.workers.map((worker) => worker.close()));
    for (const life of this.#lives) life.kill();
  }

  /** Two workers of bare calls, and one as its users have it. */
  async #worker(at: number): Promise<ModelWorker> {
    const { driver, life } = await this.#driver(at === 2);
    const options = { at, q: this.q, driver, life, leaseMs: LEASE_MS };
    return at === 2 ? HandWorker.open(options) : BareWorker.open(options);
  }

  async #driver(quiet: boolean): Promise<{ readonly driver: RedisDriver; readonly life: Life }> {
    const life = new Life(this.clock);
    life.quiet = quiet;
    this.#lives.push(life);
    // Both clients by turns: the model is the same for both.
    const name = this.#lives.length % 2 === 0 ? "ioredis" : "node-redis";
    return { driver: new ModelDriver(await makeDriver(this.#url, name), life), life };
  }
}
