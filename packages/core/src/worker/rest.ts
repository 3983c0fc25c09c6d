/** Waits after trouble, in ms: doubling from the first to the longest, half of it random. */
const FIRST_MS = 50;
const LONGEST_MS = 2_000;

/** The pauses of an engine that meets trouble. */
export class Rest {
  #troubles = 0;
  #timer: NodeJS.Timeout | undefined;

  get resting(): boolean {
    return this.#timer !== undefined;
  }

  /** Pauses, longer each time, then calls `after`. */
  begin(after: () => void): void {
    this.#troubles += 1;
    const wait = Math.min(FIRST_MS * 2 ** (this.#troubles - 1), LONGEST_MS);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        after();
      },
      wait / 2 + (Math.random() * wait) / 2,
    );
  }

  /** All is well: the next pause is the first again. */
  relax(): void {
    this.#troubles = 0;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
