import { renewScript, verdictsScript } from "@echomq/scripts";
import { isEchoMQError } from "@echomq/wire";
import type { Session } from "../connection/session.js";
import type { LeaseLoss } from "./errors.js";
import type { Run } from "./run.js";

/** Most leases of one renewal. */
const BATCH = 500;
/** How often a worker that runs something looks for verdicts, in ms. */
const LOOK_MS = 500;

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
  #look: NodeJS.Timeout | undefined;
  #looking = false;
  #told = false;
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
    this.#look = setInterval(() => void this.look(), LOOK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    clearInterval(this.#look);
  }

  /** Renews now what is owned; `ahead` is by how much time is about to jump, in ms. */
  async renew(ahead = 0): Promise<void> {
    const runs = [...this.#host.owned()].filter((run) => !run.lost && run.renews);
    for (let at = 0; at < runs.length; at += BATCH) {
      await this.#renew(runs.slice(at, at + BATCH), this.#leaseMs, ahead);
    }
  }

  /**
   * Moves the end of one lease to `ms` from now.
   * @throws LeaseLostError when it is gone; ServerError.
   */
  async extend(run: Run, ms: number): Promise<void> {
    await this.#renew([run], ms);
    run.throwIfLost();
  }

  /** Looks whether a running job must end. Never rejects: most trouble is told by the renewals. */
  async look(): Promise<void> {
    const runs = [...this.#host.owned()].filter((run) => !run.lost && !run.settling);
    if (runs.length === 0 || this.#looking) return;
    this.#looking = true;
    try {
      for (let at = 0; at < runs.length; at += BATCH) await this.#judge(runs.slice(at, at + BATCH));
    } catch (error) {
      // A right that only this call needs: told once, or cancelling would fail in silence.
      if (isEchoMQError(error, "NOPERM") && !this.#told) this.#host.trouble(error);
      this.#told ||= isEchoMQError(error, "NOPERM");
    } finally {
      this.#looking = false;
    }
  }

  async #judge(runs: readonly Run[]): Promise<void> {
    const { q, main } = this.#session;
    const call = { q, args: {}, items: runs.map(({ id }) => ({ id })) };
    const found = await main.run(verdictsScript, call, { op: "look for verdicts", retryMs: 0 });
    for (const [at, run] of runs.entries()) {
      const verdict = found[at];
      if (verdict && !run.settling && !run.lost) this.#host.doom(run, verdict);
    }
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

  async #renew(runs: readonly Run[], ms: number, ahead = 0): Promise<void> {
    const started = performance.now();
    const deadline = (await this.#session.clock.now()) + ahead + ms;
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
      else if (!gone.has(run.id)) run.leaseEnds = started + ms;
      const verdict = doomed.get(run.id);
      if (verdict !== undefined && !run.settling) this.#host.doom(run, verdict);
    }
  }
}
