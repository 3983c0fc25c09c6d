/** When the model's world begins, in server ms. */
const START = 1_800_000_000_000;

/**
 * A world whose time stands still until it is moved: the server's as clients read it, and the clocks of
 * this process. Everything that compares times then gives the same answer in every run.
 */
export class WorldClock {
  /** Server ms. */
  now: number = START;
  /** How far this machine's wall clock is from the server's, in ms. */
  wrong = 0;
  readonly #date = Date.now;
  readonly #performance: typeof performance.now = performance.now.bind(performance);

  /** Takes the clocks of this process over. */
  install(): void {
    Date.now = () => this.now + this.wrong;
    performance.now = () => this.now - START + 1_000;
  }

  /** Gives them back. */
  restore(): void {
    Date.now = this.#date;
    performance.now = this.#performance;
  }

  /** As the server answers `TIME`. */
  time(): readonly [string, string] {
    return [String(Math.floor(this.now / 1_000)), String((this.now % 1_000) * 1_000)];
  }
}
