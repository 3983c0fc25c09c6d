import { attemptsMade, countOf, type Fields } from "../job/fields.js";

/** Where a run sends its job: put off by `delay` ms, or back in line. */
export type Move = { readonly to: "delayed"; readonly delay: number } | { readonly to: "wait" };

/** One claimed job on its way through this worker. A worker may meet an id twice: (id, token) is a run. */
export class Run {
  readonly id: string;
  readonly token: string;
  readonly controller: AbortController = new AbortController();
  /** Monotonic ms at which the lease ends unless renewed. */
  leaseEnds: number;
  fields: Fields = {};
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
  /** The server knows that this run began, and charges its job if the worker dies. */
  begun = true;

  /** When it was claimed, in server ms. */
  readonly claimedAt: number;
  /** The job its handler was given: what the handler wrote through it is told with its end. */
  job: { data: unknown; progress: unknown } | undefined;

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
    this.controller.signal.throwIfAborted();
    this.move = move;
  }

  get lost(): boolean {
    return this.controller.signal.aborted;
  }
}
