import type { Dispatcher } from "../dispatch/dispatcher.js";

/** How many samples the clock compares; the one with the shortest round trip is the most exact. */
const SAMPLES = 5;
/** Time between two samples, in ms. */
const EVERY_MS = 30_000;
/** When the process clock and the monotonic clock disagree by this much, the machine's time was set. */
const STEP_MS = 1_000;
/** A round trip longer than this is measured once more, in ms. */
const SLOW_MS = 100;

interface Sample {
  /** Server time minus monotonic time, in ms. */
  readonly offset: number;
  readonly roundTrip: number;
}

/**
 * The Redis server's clock, estimated: whole milliseconds, monotone within one connection epoch. All
 * times on the wire are the server's, so a machine whose clock is wrong does no harm.
 */
export class ServerClock {
  readonly #dispatcher: Dispatcher;
  readonly #key: string;
  #samples: Sample[] = [];
  #offset: number | undefined;
  #last = 0;
  #epoch: number;
  #drift: number = Date.now() - performance.now();
  #sampledAt = Number.NEGATIVE_INFINITY;
  #sampling: Promise<void> | undefined;
  #steppedAt = Number.NEGATIVE_INFINITY;

  /** `key` chooses the node on a cluster: one clock per node that owns a queue. */
  constructor(dispatcher: Dispatcher, key: string) {
    this.#dispatcher = dispatcher;
    this.#key = key;
    this.#epoch = dispatcher.epoch;
  }

  /**
   * Server time now, in whole ms.
   * @throws ServerError when no sample could be taken yet.
   */
  async now(): Promise<number> {
    const known = this.known();
    if (known !== undefined) return known;
    await this.sample();
    return this.read();
  }

  /** Server time now, in whole ms; undefined where {@link now} has to ask the server first. */
  known(): number | undefined {
    this.#look();
    if (this.#samples.length === 0) return undefined;
    if (performance.now() - this.#sampledAt > EVERY_MS) void this.sample().catch(() => undefined);
    return this.read();
  }

  /** Server time by the last samples, without a look at the server; 0 before the first sample. */
  read(): number {
    if (this.#offset === undefined) return 0;
    const now = Math.floor(performance.now() + this.#offset);
    this.#last = Math.max(this.#last, now);
    return this.#last;
  }

  /** Monotonic ms since a step of time or a reconnect was seen; nothing may be swept right after one. */
  get steadyFor(): number {
    this.#look();
    return performance.now() - this.#steppedAt;
  }

  /**
   * Reads `TIME` and keeps it as a sample.
   * @throws ServerError when the server does not answer.
   */
  sample(): Promise<void> {
    this.#sampling ??= this.#measure().finally(() => {
      this.#sampling = undefined;
    });
    return this.#sampling;
  }

  async #measure(): Promise<void> {
    await this.exact();
    // A reply that came late, by a busy server or a reconnect, is off by half the wait.
    if ((this.#samples.at(-1)?.roundTrip ?? 0) > SLOW_MS) await this.exact();
  }

  /**
   * The server's time as it says it, in whole ms: for decisions an estimate must not take.
   * @throws ServerError when the server does not answer.
   */
  async exact(): Promise<number> {
    const before = performance.now();
    const reply = await this.#dispatcher.command(
      ["TIME"],
      { key: this.#key },
      { repeatable: true },
    );
    const after = performance.now();
    const [seconds, micros] = reply as readonly string[];
    const server = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    this.#keep({ offset: server - (before + after) / 2, roundTrip: after - before }, after);
    return server;
  }

  #keep(sample: Sample, at: number): void {
    const known = shortest(this.#samples);
    this.#samples = [...this.#samples, sample].slice(-SAMPLES);
    this.#sampledAt = at;
    // A slow reply is inexact by half its round trip, which must not pass for a step.
    const doubt = ((known?.roundTrip ?? 0) + sample.roundTrip) / 2;
    // The server's own clock was set: older samples describe another time.
    if (known && Math.abs(known.offset - sample.offset) > STEP_MS + doubt)
      this.#restart(sample, at);
    else this.#offset = shortest(this.#samples)?.offset;
  }

  #restart(sample: Sample, at: number): void {
    this.#samples = [sample];
    this.#offset = sample.offset;
    this.#last = 0;
    this.#steppedAt = at;
  }

  #look(): void {
    const now = performance.now();
    const drift = Date.now() - now;
    const stepped = Math.abs(drift - this.#drift) > STEP_MS;
    const reconnected = this.#epoch !== this.#dispatcher.epoch;
    this.#drift = drift;
    this.#epoch = this.#dispatcher.epoch;
    if (!stepped && !reconnected) return;
    // The old offset stays for `read`: an estimate is better than none.
    this.#samples = [];
    this.#last = 0;
    this.#steppedAt = now;
  }
}

function shortest(samples: readonly Sample[]): Sample | undefined {
  return samples.reduce<Sample | undefined>(
    (best, one) => (best && best.roundTrip <= one.roundTrip ? best : one),
    undefined,
  );
}
