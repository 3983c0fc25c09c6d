import { expiredScript, promoteScript, recoverScript } from "@echomq/scripts";
import type { Session } from "../connection/session.js";
import { isJobId } from "../ids/is-job-id.js";
import { bury } from "../job/bury.js";
import type { WorkerSettings } from "./options.js";

/** Most ids of one act, as the scripts bound it. */
const BATCH = 100;
/** Most leases and ids of one look. */
const LOOK = 500;
/** Most looks of one sweep; what is left then waits for the next. */
const PAGES = 100;
/** Most jobs one promotion moves. */
const PROMOTE = 500;

/** What the sweep tells the worker. */
export interface SweepHost {
  stalled(id: string): void;
  /** There may be something to claim. */
  wake(): void;
  /** What is owed to other queues may be due. */
  mail(): void;
  trouble(error: unknown): void;
}

/**
 * Looks after what others left behind: leases that ended with their worker, jobs whose keys still
 * stand, a marker nobody armed. Every worker does it; what one has done the next finds done.
 */
export class Sweeper {
  readonly #session: Session;
  readonly #settings: Pick<WorkerSettings, "leaseMs" | "sweepMs" | "stallBudget">;
  readonly #host: SweepHost;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(
    session: Session,
    settings: Pick<WorkerSettings, "leaseMs" | "sweepMs" | "stallBudget">,
    host: SweepHost,
  ) {
    this.#session = session;
    this.#settings = settings;
    this.#host = host;
  }

  start(): void {
    // Spread over the interval, so that workers started together do not look together.
    const wait = this.#settings.sweepMs * (0.75 + Math.random() * 0.5);
    this.#timer = setTimeout(() => {
      void this.sweep()
        .catch((error: unknown) => this.#host.trouble(error))
        .finally(() => {
          if (!this.#stopped) this.start();
        });
    }, wait);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** One look, and what follows from it. */
  async sweep(): Promise<void> {
    this.#host.mail();
    const { main, q, clock } = this.#session;
    // Right after a reconnect or a step of time, owners get a lease's length to renew first.
    if (clock.steadyFor < this.#settings.leaseMs) return;
    const now = await clock.exact();
    const look = { q, args: { now, limit: LOOK } };
    for (let page = 0; page < PAGES && !this.#stopped; page += 1) {
      const found = await main.run(expiredScript, look, { op: "sweep" });
      // The newest first: each part goes to the head of the line, before the one that came earlier.
      for (let at = 0; at < found.leases.length; at += BATCH) {
        await this.#recover(found.leases.slice(at, at + BATCH), now);
      }
      await this.bury(found.trash);
      if (found.unmarked === 1 || (found.due > 0 && found.due <= now)) await this.promote();
      // Many workers may have died at once: what is left need not wait for the next look.
      if (found.leases.length < LOOK && found.trash.length < LOOK) return;
    }
  }

  /**
   * Moves due jobs into line by the server's own time, and returns the next due time, 0 for none.
   */
  async promote(): Promise<number> {
    const { main, q, clock } = this.#session;
    const args = { now: await clock.exact(), limit: PROMOTE };
    const { moved, due } = await main.run(promoteScript, { q, args }, { op: "promote" });
    if (moved > 0) this.#host.wake();
    return due;
  }

  /** As {@link promote}, until none is due. */
  async promoteDue(): Promise<number> {
    for (;;) {
      const next = await this.promote();
      if (next === 0 || next > this.#session.clock.read()) return next;
    }
  }

  /** Removes the keys of jobs in trash. */
  bury(trash: readonly string[]): Promise<void> {
    return bury(this.#session, trash, "bury");
  }

  async #recover(
    leases: readonly { readonly id: string; readonly score: string; readonly owner: string }[],
    now: number,
  ): Promise<void> {
    const { main, q } = this.#session;
    // The look names the newest lease first; the oldest must come out first again.
    const oldest = leases.filter(({ id }) => isJobId(id)).reverse();
    const jobs = oldest.map(({ id }) => id);
    const args = { now, budget: this.#settings.stallBudget };
    const rows = oldest.map(({ score, owner }) => ({ score, owner }));
    const status = await main.run(recoverScript, { q, jobs, args, leases: rows }, { op: "sweep" });
    status.forEach((what, at) => {
      if (what === "stalled") this.#host.stalled(jobs[at] ?? "");
    });
    if (status.some((what) => what === "stalled" || what === "released")) this.#host.wake();
  }
}
