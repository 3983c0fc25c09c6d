const EXITS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const BROKEN_PIPE = 141;

/** Hears that the demo is to end early: by a signal, or because nobody reads its output any more. */
export class Interruption {
  /** Rejects when it happens. */
  readonly happened: Promise<never>;
  readonly #controller = new AbortController();
  readonly #listeners = new Map<keyof typeof EXITS, () => void>();
  #exit = 1;

  constructor(stream: NodeJS.WriteStream) {
    this.happened = new Promise((_, reject) => {
      this.signal.addEventListener("abort", () => reject(new Error("interrupted")));
    });
    this.happened.catch(() => undefined);
    for (const [name, exit] of Object.entries(EXITS) as [keyof typeof EXITS, number][]) {
      const listener = (): void => this.#interrupt(exit);
      this.#listeners.set(name, listener);
      process.on(name, listener);
    }
    stream.on("error", () => this.#interrupt(BROKEN_PIPE));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Exit status that says how it was interrupted. */
  get exit(): number {
    return this.#exit;
  }

  /** Stops listening for signals. */
  end(): void {
    for (const [name, listener] of this.#listeners) process.off(name, listener);
  }

  /** A second signal changes nothing: the clean-up is on its way and bounded. */
  #interrupt(exit: number): void {
    if (this.signal.aborted) return;
    this.#exit = exit;
    this.#controller.abort();
  }
}
