import {
  type CallOf,
  type Dispatcher,
  type ReplyOf,
  type Script,
  type ScriptSpec,
  ServerClock,
} from "@echomq/scripts";
import { stampKey } from "@echomq/wire";
import { BootFence } from "./fence.js";

/** Another queue, reached over the main lane of a session: behind its own fence, by its own clock. */
export class Neighbour {
  readonly q: string;
  readonly clock: ServerClock;
  readonly #main: Dispatcher;
  readonly #fence: BootFence;

  constructor(q: string, main: Dispatcher, v1Prefixes: readonly string[] | undefined) {
    this.q = q;
    this.#main = main;
    this.clock = new ServerClock(main, stampKey(q));
    this.#fence = new BootFence(q, v1Prefixes);
  }

  /**
   * Runs a script that may write.
   * @throws FenceError, WireError or ServerError.
   */
  write<S extends ScriptSpec>(script: Script<S>, call: CallOf<S>, op: string): Promise<ReplyOf<S>> {
    const work = (): Promise<unknown> => this.#main.run(script, call, { op });
    return this.#fence.guard(this.#main, this.clock, work) as Promise<ReplyOf<S>>;
  }
}
