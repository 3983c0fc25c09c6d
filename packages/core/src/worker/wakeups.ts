import { typedError } from "@echomq/scripts";
import type { EchoMQError } from "@echomq/wire";
import type { Session } from "../connection/session.js";
import type { Sweeper } from "./sweeper.js";
import type { Waker } from "./waker.js";

/** Longest step of the timer for due jobs, in ms: longer ones overflow, and the clock may be set. */
const STEP_MS = 60_000;
/** Wait after trouble with the blocking read, in ms. */
const TROUBLE_MS = 500;

/** What the wake-ups need of their worker. */
export interface WakeHost {
  /** There may be work, beginning with this id if one is known. */
  wake(id?: string): void;
  /** False while the worker must not claim. */
  claiming(): boolean;
  trouble(error: EchoMQError): void;
  fatal(error: EchoMQError): void;
}

/** Waits for work while slots are free, and for the time of delayed jobs. */
export class Wakeups {
  readonly #session: Session;
  readonly #waker: Waker;
  readonly #sweeper: Sweeper;
  readonly #host: WakeHost;
  #waiting = false;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = 0;
  #again: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(session: Session, waker: Waker, sweeper: Sweeper, host: WakeHost) {
    this.#session = session;
    this.#waker = waker;
    this.#sweeper = sweeper;
    this.#host = host;
  }

  /** Waits for work, one wait at a time, at the latest until `due`, server ms, 0 for none. */
  async wait(due: number): Promise<void> {
    if (this.#waiting || this.#stopped) return;
    this.#waiting = true;
    try {
      const wake = await this.#waker.wait(due > 0 ? this.#until(due) : Number.POSITIVE_INFINITY);
      if (wake.type === "due") this.plan(wake.at);
      // Taken off by a worker that was paused meanwhile: others must be woken in its place.
      if (wake.type === "job" && !this.#host.claiming()) this.#promote();
      this.#waiting = false;
      this.#host.wake(wake.type === "job" ? wake.id : undefined);
    } catch (error) {
      this.#waiting = false;
      if (this.#stopped) return;
      const typed = typedError(error, "wait");
      if (typed.name === "FenceError") return this.#host.fatal(typed);
      this.#host.trouble(typed);
      this.#again = setTimeout(() => this.#host.wake(), TROUBLE_MS);
    }
  }

  /** Promotes due jobs at their time, in steps no timer overflows. */
  plan(due: number): void {
    if (this.#stopped || (this.#dueAt !== 0 && this.#dueAt <= due)) return;
    this.#dueAt = due;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#dueAt = 0;
      this.#promote();
    }, this.#until(due));
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#again);
  }

  #promote(): void {
    this.#sweeper
      .promote()
      .then((next) => {
        if (next > 0) this.plan(next);
      })
      .catch((error: unknown) => {
        this.#host.trouble(typedError(error, "promote"));
      });
  }

  /** Ms until a server time, 0 when it has come. */
  #until(due: number): number {
    const now = this.#session.clock.read();
    // After a reconnect the clock knows nothing for a moment: look again soon.
    return now === 0 ? TROUBLE_MS : Math.min(Math.max(due - now, 0), STEP_MS);
  }
}
