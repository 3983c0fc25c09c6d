import { isEchoMQError } from "@echomq/wire";
import type { Session } from "../connection/session.js";
import { attemptsMade } from "../job/fields.js";
import { storedOn } from "../job/stored.js";
import { Chain } from "./chain.js";
import { type LeaseLoss, LeaseLostError } from "./errors.js";
import type { EngineHost } from "./host.js";
import { released, type Settlement } from "./outcome.js";
import type { Run } from "./run.js";
import { type SettleBatch, settleBatch } from "./settle-batch.js";

/** The runs whose lease a worker holds, in the order of their claim. */
export interface Owned extends Iterable<Run> {
  readonly size: number;
}

/** The runs whose lease a worker holds, and the ends of theirs that wait to be written. */
export class RunBook {
  readonly #session: Session;
  readonly #host: EngineHost;
  /** From claim to the answer of their settlement, in the order of their claim. */
  readonly #owned = new Chain<Run>();
  #pending: Settlement[] = [];

  constructor(session: Session, host: EngineHost) {
    this.#session = session;
    this.#host = host;
  }

  get queue(): string {
    return this.#session.q;
  }

  get owned(): Owned {
    return this.#owned;
  }

  /** How many ends wait to be written. */
  get pending(): number {
    return this.#pending.length;
  }

  add(run: Run): void {
    run.owned = this.#owned.add(run);
  }

  /** Forgets a run without a word, because its lease was cleared. */
  drop(run: Run): void {
    this.#take(run);
  }

  /** Takes a run out; false when it is no longer ours. */
  #take(run: Run): boolean {
    if (run.owned === undefined) return false;
    this.#owned.take(run.owned);
    run.owned = undefined;
    return true;
  }

  /** Drops a run whose lease is over; whatever it returns is not written. */
  lose(run: Run, loss: LeaseLoss): void {
    if (!this.#take(run)) return;
    const error = new LeaseLostError(run.id, loss, this.#session.q);
    run.abort(error);
    this.#host.lost(run, error);
  }

  /** Notes the end of a run, once; false when it is no longer ours to write. */
  settle(settlement: Settlement): boolean {
    if (settlement.run.owned === undefined || settlement.run.settling) return false;
    settlement.run.settling = true;
    this.#pending.push(settlement);
    return true;
  }

  /** Takes out what goes in the next call. */
  next(): SettleBatch {
    const batch = settleBatch(this.#pending);
    this.#pending = batch.rest;
    return batch;
  }

  /** Forgets all runs and tells how each is to end: as it ended, or given back. */
  clear(): Settlement[] {
    const known = new Map(this.#pending.map((settlement) => [settlement.run, settlement]));
    const ends = [...this.#owned].map((run) => known.get(run) ?? released(run));
    for (const run of this.#owned) this.#take(run);
    this.#pending = [];
    return ends;
  }

  /** Takes in the statuses of settlements that were answered; a promise where one must be looked up. */
  answered(sent: readonly Settlement[], statuses: readonly string[]): Promise<void> | undefined {
    let doubts: Promise<void>[] | undefined;
    for (let at = 0; at < sent.length; at += 1) {
      const settlement = sent[at] as Settlement;
      const status = statuses[at] ?? "";
      if (status === "ok") this.#over(settlement);
      else if (settlement.doubt) {
        doubts ??= [];
        doubts.push(this.#lookUp(settlement, status));
      } else this.#refused(settlement, status);
    }
    return doubts && Promise.all(doubts).then(() => undefined);
  }

  #over(settlement: Settlement): void {
    if (this.#take(settlement.run)) this.#host.settled(settlement);
  }

  #refused({ run }: Settlement, status: string): void {
    this.lose(run, status.startsWith("EMQMISSING") ? "removed" : "stolen");
  }

  async #lookUp(settlement: Settlement, status: string): Promise<void> {
    if (await this.#wasWritten(settlement.run, status)) this.#over(settlement);
    else this.#refused(settlement, status);
  }

  /** Puts back what was sent without an answer. */
  unanswered(sent: readonly Settlement[], error: unknown): void {
    const waiting = new Set(this.#pending);
    for (const settlement of sent) {
      if (settlement.run.owned === undefined || waiting.has(settlement)) continue;
      settlement.doubt ||= unknownOutcome(error);
      this.#pending.push(settlement);
    }
  }

  /** After a lost reply `EMQSTALE` means unknown, probably done: look before reporting. */
  async #wasWritten(run: Run, status: string): Promise<boolean> {
    if (!status.startsWith("EMQSTALE")) return false;
    const { main, q } = this.#session;
    const [found] = await storedOn(main, q, [run.id], "settle").catch(() => []);
    // Gone is what a removing retention leaves; a run that lost its lease has left no attempt behind.
    return !found || attemptsMade(found.fields) >= run.atm;
  }
}

/** True when a call may have run although it failed. */
export function unknownOutcome(error: unknown): boolean {
  return isEchoMQError(error, "CONNECTION_LOST") || isEchoMQError(error, "TIMEOUT");
}
