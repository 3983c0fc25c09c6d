import type { CallOf, Dispatcher, ReplyOf, Script, ScriptSpec } from "@echomq/scripts";
import type { Clock } from "./clock.js";
import { BootFence } from "./fence.js";

/** Another queue, reached over the main lane of a session: behind its own fence, by its own clock. */
export class Neighbour {
  readonly q: string;
  readonly clock: Clock;
  readonly #main: Dispatcher;
  readonly #fence: BootFence;

  constructor(
    q: string,
    main: Dispatcher,
    clock: Clock,
    v1Prefixes: readonly string[] | undefined,
  ) {
    this.q = q;
    this.#main = main;
    this.clock = clock;
    this.#fence = new BootFence(q, v1Prefixes);
  }

  /**
   * Runs a script that may write. `resent` is told when a call that may have run is sent again.
   * @throws FenceError, WireError or ServerError.
   */
  write<S extends ScriptSpec>(
    script: Script<S>,
    call: CallOf<S>,
    op: string,
    resent?: () => void,
  ): Promise<ReplyOf<S>> {
    const work = (): Promise<unknown> =>
      this.#main.run(script, call, { op, queue: this.q, resent });
    return this.#fence.guard(this.#main, this.clock, work) as Promise<ReplyOf<S>>;
  }
}
