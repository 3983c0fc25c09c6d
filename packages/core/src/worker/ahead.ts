import type { ClaimAhead } from "./options.js";

/** Claim-ahead pays for short jobs only: beyond this average it is off, in ms. */
const SHORT_MS = 5;
/** At most this many jobs, and this much work in ms, stand ready. */
const MOST = 64;
const WORK_MS = 5;
/** From this concurrency on, batches are large enough without it. */
const OFF_FROM = 50;
/** Runs before the average is believed. */
const SAMPLES = 16;

/** How many jobs to claim beyond the free slots. */
export class Ahead {
  readonly #option: ClaimAhead;
  readonly #concurrency: () => number;
  #average = 0;
  #samples = 0;

  constructor(option: ClaimAhead, concurrency: () => number) {
    this.#option = option;
    this.#concurrency = concurrency;
  }

  get on(): boolean {
    return this.#option !== 0;
  }

  /** Takes in how long a run took, in ms. */
  took(ms: number): void {
    this.#samples += 1;
    this.#average = this.#samples === 1 ? ms : 0.9 * this.#average + 0.1 * ms;
  }

  /** Jobs to hold ready now. `limited` while a limit of the queue makes every claim count. */
  size(limited: boolean): number {
    if (this.#option === 0 || limited) return 0;
    if (this.#option !== "auto") return this.#option;
    const concurrency = this.#concurrency();
    if (concurrency >= OFF_FROM || this.#samples < SAMPLES || this.#average >= SHORT_MS) return 0;
    // The work that stands ready is done by all slots at once.
    const fits = Math.floor((WORK_MS * concurrency) / Math.max(this.#average, WORK_MS / MOST));
    return Math.min(fits, MOST);
  }
}
