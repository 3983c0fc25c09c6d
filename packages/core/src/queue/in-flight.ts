/** Counts calls on their way, so that closing can wait for them. */
export class InFlight {
  #count = 0;
  #onIdle: () => void = () => undefined;

  /** Runs a call that closing waits for. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#count += 1;
    try {
      return await work();
    } finally {
      this.#count -= 1;
      if (this.#count === 0) this.#onIdle();
    }
  }

  /** Resolves when no call is on its way. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#count === 0) resolve();
      else this.#onIdle = resolve;
    });
  }
}
