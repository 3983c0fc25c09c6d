/** One pending call and the moment it is given up. */
interface Pending {
  readonly deadline: number;
  readonly expire: () => void;
}

const TICK_MS = 100;

/**
 * Deadlines of calls in flight, looked at by one timer for all of them: a timer per call would cost
 * more than the call. Resolution is 100 ms.
 */
export class Watchdog {
  readonly #pending = new Set<Pending>();
  #timer: NodeJS.Timeout | undefined;

  /** Settles as `work` does, or rejects with `late()` once `ms` have passed. */
  guard<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const pending: Pending = {
        deadline: performance.now() + ms,
        expire: () => {
          this.#pending.delete(pending);
          reject(late());
        },
      };
      this.#pending.add(pending);
      this.#timer ??= this.#start();
      work.then(
        (value) => {
          this.#pending.delete(pending);
          resolve(value);
        },
        (error: unknown) => {
          this.#pending.delete(pending);
          reject(error);
        },
      );
    });
  }

  /** Stops the timer unless a call is still pending: that one keeps its deadline. */
  rest(): void {
    if (this.#pending.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #start(): NodeJS.Timeout {
    return setInterval(() => {
      this.rest();
      const now = performance.now();
      for (const pending of this.#pending) if (pending.deadline <= now) pending.expire();
    }, TICK_MS);
  }
}
