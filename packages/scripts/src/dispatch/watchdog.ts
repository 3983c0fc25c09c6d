/** One pending call and the moment it is given up. */
interface Pending {
  readonly deadline: number;
  readonly expire: () => void;
  /** Its place in the list. */
  place: number;
}

const TICK_MS = 100;

/**
 * Deadlines of calls in flight, looked at by one timer for all of them: a timer per call would cost
 * more than the call. Resolution is 100 ms.
 */
export class Watchdog {
  // Not a `Set`: out of one that lives long, tables that were thrown away keep what they held (docs/adr/0075).
  readonly #pending: Pending[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** Settles as `work` does, or rejects with `late()` once `ms` have passed. */
  guard<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const pending: Pending = {
        deadline: performance.now() + ms,
        expire: () => {
          this.#take(pending);
          reject(late());
        },
        place: this.#pending.length,
      };
      this.#pending.push(pending);
      this.#timer ??= this.#start();
      work.then(
        (value) => {
          this.#take(pending);
          resolve(value);
        },
        (error: unknown) => {
          this.#take(pending);
          reject(error);
        },
      );
    });
  }

  /** Stops the timer unless a call is still pending: that one keeps its deadline. */
  rest(): void {
    if (this.#pending.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #take(pending: Pending): void {
    const last = this.#pending.at(-1);
    // It may have expired before its answer came.
    if (last === undefined || this.#pending[pending.place] !== pending) return;
    this.#pending[pending.place] = last;
    last.place = pending.place;
    this.#pending.pop();
  }

  #start(): NodeJS.Timeout {
    return setInterval(() => {
      this.rest();
      const now = performance.now();
      for (const pending of [...this.#pending]) if (pending.deadline <= now) pending.expire();
    }, TICK_MS);
  }
}
