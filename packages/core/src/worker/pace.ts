import type { Rate } from "../options/rate.js";

/** The rate of one worker: a fixed window that begins with the first job claimed in it. */
export class Pace {
  readonly #rate: Rate;
  readonly #opened: () => void;
  /** Claimed in this window, and asked for in calls that have not answered. */
  #used = 0;
  #asked = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `opened` is called when a window has ended and there are places again. */
  constructor(rate: Rate, opened: () => void) {
    this.#rate = rate;
    this.#opened = opened;
  }

  /** How many more may be claimed in this window. */
  get places(): number {
    return Math.max(this.#rate.max - this.#used - this.#asked, 0);
  }

  ask(count: number): void {
    this.#asked += count;
  }

  /** A call that asked for `count` took `taken`. */
  took(count: number, taken: number): void {
    this.#asked -= count;
    this.#used += taken;
    if (taken > 0) this.#timer ??= setTimeout(() => this.#next(), this.#rate.ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #next(): void {
    this.#timer = undefined;
    this.#used = 0;
    this.#opened();
  }
}
