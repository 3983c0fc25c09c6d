/** Counts calls on their way, so that closing can wait for them. */
export class InFlight {
  #count = 0;
  #onIdle: () => void = () => undefined;

  /** Runs a call that closing waits for. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.begin();
    try {
      return await work();
    } finally {
      this.end();
    }
  }

  /** For a call that {@link run} would cost too much: {@link end} must follow, whatever becomes of it. */
  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0) this.#onIdle();
  }

  /** Resolves when no call is on its way. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#count === 0) resolve();
      else this.#onIdle = resolve;
    });
  }
}
