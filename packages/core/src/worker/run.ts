import { attemptsMade, countOf, type Fields } from "../job/fields.js";
import type { Link } from "./chain.js";

/** Where a run sends its job: put off by `delay` ms, or back in line. */
export type Move = { readonly to: "delayed"; readonly delay: number } | { readonly to: "wait" };

const NONE: Fields = {};

/** One claimed job on its way through this worker. A worker may meet an id twice: (id, token) is a run. */
export class Run {
  readonly id: string;
  readonly token: string;
  /** Made when somebody asks for the signal: most handlers never do, and it costs more than the rest. */
  #controller: AbortController | undefined;
  #lost = false;
  #reason: unknown;
  /** Monotonic ms at which the lease ends unless renewed. */
  leaseEnds: number;
  fields: Fields = NONE;
  /** Set once the run's end is on its way to the server. */
  settling = false;
  /** Where the job asked to go when its handler ends; undefined while it did not. */
  move: Move | undefined;
  /** False while somebody else moves the lease's end. */
  renews = true;
  /** Set when the run is to count as no attempt. */
  uncounted = false;
  /** Frees the run's slot although its handler goes on. */
  quit: (() => void) | undefined;
  /** Monotonic ms at which its handler began, where that is looked at. */
  started = 0;
  /** The server knows that this run began, and charges its job if the worker dies. */
  begun = true;

  /** When it was claimed, in server ms. */
  readonly claimedAt: number;
  /** Where the worker's book has it; undefined once its lease is not the worker's any more. */
  owned: Link<Run> | undefined;
  /** Its place among those the server does not know to have begun. */
  unmarked: Link<Run> | undefined;
  /** The job its handler was given, which is told with its end. */
  job: object | undefined;

  constructor(id: string, token: string, leaseEnds: number, claimedAt: number) {
    this.id = id;
    this.token = token;
    this.leaseEnds = leaseEnds;
    this.claimedAt = claimedAt;
  }

  /** Attempts made, this one included where it counts. */
  get atm(): number {
    return attemptsMade(this.fields) + (this.uncounted ? 0 : 1);
  }

  /** Attempts started, this one included. */
  get ats(): number {
    return countOf(this.fields.ats) + 1;
  }

  /** Sends the job somewhere else when its handler ends. */
  async moveTo(move: Move): Promise<void> {
    this.throwIfLost();
    this.move = move;
  }

  /** Aborts when the run must not go on. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#lost) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** The run must not go on: its signal aborts with `reason`. Only the first counts. */
  abort(reason: unknown): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }

  /** True once the run must not go on. */
  get lost(): boolean {
    return this.#lost;
  }

  /** Why the run must not go on; undefined while it may. */
  get reason(): unknown {
    return this.#reason;
  }

  /** @throws the reason once the run must not go on. */
  throwIfLost(): void {
    if (this.#lost) throw this.#reason;
  }
}
