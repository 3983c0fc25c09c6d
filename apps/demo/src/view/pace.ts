const SECOND_MS = 1_000;

/** How fast a number grows. */
export class Pace {
  readonly #started: number;
  readonly #now: () => number;
  readonly #window: { readonly at: number; readonly done: number }[];
  #changed: number;
  #done = 0;
  #best = 0;

  /** @param now A monotonic clock in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#started = now();
    this.#changed = this.#started;
    this.#window = [{ at: this.#started, done: 0 }];
  }

  add(done: number): void {
    const at = this.#now();
    if (done !== this.#done) this.#changed = at;
    this.#done = done;
    this.#window.push({ at, done });
    // One that is older stays, or a pause of a second would leave nothing to measure from.
    while ((this.#window[1]?.at ?? at) < at - SECOND_MS) this.#window.shift();
    const within = this.#window.find((one) => one.at >= at - SECOND_MS);
    this.#best = Math.max(this.#best, done - (within?.done ?? done));
  }

  /** How many a second, over the last second. */
  get rate(): number {
    const first = this.#window[0];
    if (first === undefined) return 0;
    const ms = Math.max(this.#now() - first.at, 1);
    return Math.round(((this.#done - first.done) * SECOND_MS) / ms);
  }

  /** Most within one second. */
  get best(): number {
    return this.#best;
  }

  /** Time since the start until the last change, in ms. */
  get ms(): number {
    return this.#changed - this.#started;
  }

  /** Time since the last change, in ms. */
  get idleMs(): number {
    return this.#now() - this.#changed;
  }
}
