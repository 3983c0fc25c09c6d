import { renewScript } from "@echomq/scripts";
import type { Session } from "../connection/session.js";
import type { LeaseLoss } from "./errors.js";
import type { Run } from "./run.js";

/** Most leases of one renewal. */
const BATCH = 500;

/** What the keeper tells the worker. */
export interface KeeperHost {
  /** Every run whose lease this worker holds. */
  owned(): Iterable<Run>;
  /** The run's lease is gone. */
  lose(run: Run, loss: LeaseLoss): void;
  /** The job must end with this verdict. */
  doom(run: Run, verdict: string): void;
  trouble(error: unknown): void;
}

/** Renews the leases of running jobs, and ends runs whose lease is over. */
export class LeaseKeeper {
  readonly #session: Session;
  readonly #leaseMs: number;
  readonly #host: KeeperHost;
  #timer: NodeJS.Timeout | undefined;
  #busy = false;
  #due = 0;

  constructor(session: Session, leaseMs: number, host: KeeperHost) {
    this.#session = session;
    this.#leaseMs = leaseMs;
    this.#host = host;
  }

  /** Starts: a look every eighth of a lease, a renewal every half. */
  start(): void {
    this.#due = performance.now() + this.#leaseMs / 2;
    this.#timer = setInterval(() => void this.#tick(), Math.max(this.#leaseMs / 8, 10));
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Renews now what is owned. */
  async renew(): Promise<void> {
    const runs = [...this.#host.owned()].filter((run) => !run.lost);
    for (let at = 0; at < runs.length; at += BATCH) await this.#renew(runs.slice(at, at + BATCH));
  }

  async #tick(): Promise<void> {
    const now = performance.now();
    for (const run of this.#host.owned()) {
      // Of a run being settled its settlement's answer decides.
      if (run.leaseEnds <= now && !run.lost && !run.settling) this.#host.lose(run, "expired");
    }
    if (this.#busy || now < this.#due) return;
    this.#busy = true;
    this.#due = now + this.#leaseMs / 2;
    try {
      await this.renew();
    } catch (error) {
      this.#due = performance.now() + this.#leaseMs / 8;
      this.#host.trouble(error);
    } finally {
      this.#busy = false;
    }
  }

  async #renew(runs: readonly Run[]): Promise<void> {
    const started = performance.now();
    const deadline = (await this.#session.clock.now()) + this.#leaseMs;
    const { q, main } = this.#session;
    const leases = runs.map(({ id, token }) => ({ id, token }));
    const call = { q, args: { deadline }, leases };
    const options = { op: "renew", retryMs: this.#leaseMs / 4 };
    const { lost, verdicts } = await main.run(renewScript, call, options);
    const gone = new Set(lost);
    const doomed = new Map(verdicts.map(({ id, why }) => [id, why]));
    for (const run of runs) {
      // A run being settled may have ended between: its settlement's answer decides.
      if (gone.has(run.id) && !run.settling) this.#host.lose(run, "stolen");
      else if (!gone.has(run.id)) run.leaseEnds = started + this.#leaseMs;
      const verdict = doomed.get(run.id);
      if (verdict !== undefined && !run.settling) this.#host.doom(run, verdict);
    }
  }
}
