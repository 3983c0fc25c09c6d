/** What becomes of a guarded call. */
export interface Outcome<R, T> {
  readonly read: (reply: R) => T;
  /** Where it failed in time: what to settle as instead. */
  readonly failed: (error: unknown) => Promise<T>;
  /** Why it is given up when its time is over. */
  readonly late: () => Error;
}

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

  /**
   * Sends, and settles as its outcome says, also where `deadline`, in monotonic ms, passes first. What
   * `read` throws is no failure of the call: it rejects.
   */
  guard<R, T>(
    send: () => Promise<R>,
    deadline: number,
    { read, failed, late }: Outcome<R, T>,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const pending: Pending = {
        deadline,
        expire: () => {
          if (this.#take(pending)) resolve(failed(late()));
        },
        place: this.#pending.length,
      };
      this.#pending.push(pending);
      this.#timer ??= this.#start();
      const fail = (error: unknown): void => {
        if (this.#take(pending)) resolve(failed(error));
      };
      const succeed = (reply: R): void => {
        if (!this.#take(pending)) return;
        try {
          resolve(read(reply));
        } catch (error) {
          reject(error);
        }
      };
      try {
        send().then(succeed, fail);
      } catch (error) {
        fail(error);
      }
    });
  }

  /** Stops the timer unless a call is still pending: that one keeps its deadline. */
  rest(): void {
    if (this.#pending.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** False where it was taken before: it expired, and its answer came after all. */
  #take(pending: Pending): boolean {
    const last = this.#pending.at(-1);
    if (last === undefined || this.#pending[pending.place] !== pending) return false;
    this.#pending[pending.place] = last;
    last.place = pending.place;
    this.#pending.pop();
    return true;
  }

  #start(): NodeJS.Timeout {
    return setInterval(() => {
      this.rest();
      const now = performance.now();
      for (const pending of [...this.#pending]) if (pending.deadline <= now) pending.expire();
    }, TICK_MS);
  }
}
