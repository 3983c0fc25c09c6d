import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { countScript, heartbeatScript } from "@echomq/scripts";
import type { Session } from "../connection/session.js";
import { within } from "../connection/within.js";
import { unknownOutcome } from "./book.js";

/** Time between two heartbeats, and silence after which a worker counts as gone, in ms. */
const BEAT_MS = 15_000;
export const WORKER_TTL_MS = 60_000;
/** Time between two writes of counts, in ms. */
const COUNT_MS = 1_000;
/** Most minutes of counts that wait to be written, as the script bounds them. */
const ROWS = 60;
/** How long the last call may take, in ms. */
const LEAVE_MS = 1_000;

/** What a worker says about itself and what it counts. */
export interface PresenceOptions {
  readonly name: string | undefined;
  /** How many jobs it runs at once, now. */
  readonly concurrency: () => number;
  /** How many minutes of counts to keep; undefined counts nothing. */
  readonly maxDataPoints: number | undefined;
  readonly trouble: (error: unknown) => void;
}

interface Tally {
  completed: number;
  failed: number;
}

/** Tells the queue that a worker lives, and how many jobs it ended in each minute. */
export class Presence {
  readonly id: string = randomUUID();
  readonly #session: Session;
  readonly #options: PresenceOptions;
  readonly #tallies = new Map<number, Tally>();
  #beat: NodeJS.Timeout | undefined;
  #flush: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #startedAt = 0;
  #stopped = false;

  constructor(session: Session, options: PresenceOptions) {
    this.#session = session;
    this.#options = options;
  }

  start(): void {
    void this.tell();
    this.#beat = setInterval(() => void this.tell(), BEAT_MS);
  }

  /** Notes the end of a job, for the counts. */
  count(how: "completed" | "failed"): void {
    if (this.#options.maxDataPoints === undefined || this.#stopped) return;
    const minute = Math.floor(this.#session.clock.read() / 60_000);
    const tally = this.#tallies.get(minute) ?? { completed: 0, failed: 0 };
    tally[how] += 1;
    this.#tallies.set(minute, tally);
    this.#flush ??= setTimeout(() => {
      this.#flush = undefined;
      this.#flushing = this.#write();
    }, COUNT_MS);
  }

  /** Writes what was counted and leaves the list, where the server answers. Never rejects. */
  async stop(answers: boolean): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#beat);
    clearTimeout(this.#flush);
    if (!answers || !this.#session.main.ready) return;
    const last = async (): Promise<void> => {
      await this.#flushing;
      await this.#write();
      await this.#send(0);
    };
    await within(last(), LEAVE_MS);
  }

  /** One heartbeat. Never rejects. */
  async tell(): Promise<void> {
    // Whatever is wrong, the worker's own calls meet it and tell it.
    await this.#send(WORKER_TTL_MS).catch(() => undefined);
  }

  async #send(ttl: number): Promise<void> {
    const now = await this.#session.clock.now();
    this.#startedAt ||= now;
    const info = JSON.stringify({
      name: this.#options.name,
      host: hostname(),
      pid: process.pid,
      startedAt: this.#startedAt,
      concurrency: this.#options.concurrency(),
    });
    // A beat on its way while the worker leaves must not put it back.
    if (this.#stopped && ttl > 0) return;
    const call = { q: this.#session.q, args: { now, ttl, id: this.id, info } };
    await this.#session.write(heartbeatScript, call, "heartbeat");
  }

  async #write(): Promise<void> {
    const { maxDataPoints } = this.#options;
    if (this.#tallies.size === 0 || maxDataPoints === undefined) return;
    const rows = [...this.#tallies].slice(-ROWS);
    this.#tallies.clear();
    const call = {
      q: this.#session.q,
      args: { keep: maxDataPoints },
      rows: rows.map(([minute, tally]) => ({ minute, ...tally })),
    };
    try {
      await this.#session.write(countScript, call, "metrics");
    } catch (error) {
      // A call whose answer was lost may have counted: twice would be worse than not at all.
      if (!unknownOutcome(error)) for (const [minute, tally] of rows) this.#again(minute, tally);
      if (!this.#stopped) this.#options.trouble(error);
    }
  }

  #again(minute: number, { completed, failed }: Tally): void {
    const tally = this.#tallies.get(minute) ?? { completed: 0, failed: 0 };
    tally.completed += completed;
    tally.failed += failed;
    this.#tallies.set(minute, tally);
  }
}
