import { availableParallelism } from "node:os";

// As it was before a test put another in its place, whose clock may stand still.
const later = setImmediate;

/**
 * How soon answers come, in ms, for a wait to be worth it: to fall asleep and be woken costs 20 to 50
 * microseconds on both sides (measured on loopback, docs/adr/0074).
 */
const SOON_MS = 0.25;
/** Longest wait for one answer, in ms. */
const WAIT_MS = 0.25;
/**
 * Weights of the newest answer in what is usual, where it came sooner and where it took longer. Unequal, so
 * that it is the time of the quick ones: asleep, on a machine with much to do, many answers take longer than
 * they would awake, and a plain average would never wake up again.
 */
const SOONER = 0.1;
const LATER = 0.02;

/**
 * Keeps the event loop awake while an answer is due any moment. What else the process has to do goes on:
 * the loop turns without sleeping, for `WAIT_MS` at most, and only where answers come that soon.
 */
export class BusyWait {
  readonly #on: boolean;
  #usual = 0;
  #waiting = 0;
  #turning = false;
  #until = 0;

  constructor(on: boolean) {
    this.#on = on && availableParallelism() > 1;
  }

  /** Whether answers come soon enough to be waited for. */
  get worth(): boolean {
    return this.#on && this.#usual <= SOON_MS;
  }

  /** The event loop is kept awake. */
  get awake(): boolean {
    return this.#turning;
  }

  /** A call was sent, by somebody who is `busy` and has more to send. Returns what `answered` takes. */
  sent(busy: boolean): number {
    const now = performance.now();
    this.#waiting += 1;
    if (!busy || !this.worth) return now;
    this.#until = now + WAIT_MS;
    if (!this.#turning) {
      this.#turning = true;
      later(this.#turn);
    }
    return now;
  }

  answered(sent: number): void {
    this.#waiting -= 1;
    // One long pause, of garbage or of a neighbour, says little of the next answer.
    const took = Math.min(performance.now() - sent, 2 * SOON_MS);
    this.#usual += (took < this.#usual ? SOONER : LATER) * (took - this.#usual);
  }

  readonly #turn = (): void => {
    if (this.#waiting === 0 || performance.now() > this.#until) this.#turning = false;
    else later(this.#turn);
  };
}
