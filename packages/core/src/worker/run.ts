import { attemptsMade, countOf, type Fields } from "../job/fields.js";

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

  constructor(id: string, token: string, leaseEnds: number) {
    this.id = id;
    this.token = token;
    this.leaseEnds = leaseEnds;
  }

  /** Attempts made, this one included. */
  get atm(): number {
    return attemptsMade(this.fields) + 1;
  }

  /** Attempts started, this one included. */
  get ats(): number {
    return countOf(this.fields.ats) + 1;
  }

  get lost(): boolean {
    return this.controller.signal.aborted;
  }
}
