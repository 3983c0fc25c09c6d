import {
  type CallOf,
  Dispatcher,
  type DispatcherOptions,
  type LaneRole,
  type ReplyOf,
  type Script,
  type ScriptSpec,
  ServerClock,
} from "@echomq/scripts";
import { stampKey } from "@echomq/wire";
import { BootFence } from "./fence.js";
import { type ResolvedDriver, resolveDriver } from "./resolve.js";
import type { ConnectionOptions } from "./types.js";

/** One queue's connection: the main lane, the server's clock, the fence, and lanes opened on demand. */
export class Session {
  readonly q: string;
  readonly main: Dispatcher;
  readonly clock: ServerClock;
  readonly fence: BootFence;
  readonly #resolved: ResolvedDriver;
  readonly #options: DispatcherOptions;
  readonly #lanes = new Set<Dispatcher>();

  private constructor(q: string, resolved: ResolvedDriver, options: ConnectionOptions) {
    this.q = q;
    this.#resolved = resolved;
    this.#options = {
      ...(options.commandTimeout === undefined ? {} : { timeoutMs: options.commandTimeout }),
      ...(options.retryTime === undefined ? {} : { retryMs: options.retryTime }),
    };
    this.main = Dispatcher.over(resolved.driver, this.#options);
    this.clock = new ServerClock(this.main, stampKey(q));
    this.fence = new BootFence(q, options.v1Prefixes);
  }

  /**
   * Connects.
   * @throws ConfigError or DriverFault as {@link resolveDriver}.
   */
  static async open(q: string, options: ConnectionOptions): Promise<Session> {
    return new Session(q, await resolveDriver(options.connection), options);
  }

  /** Opens a lane of its own; it is closed with the session. */
  async lane(role: LaneRole): Promise<Dispatcher> {
    const lane = await Dispatcher.open(this.#resolved.driver, role, this.#options);
    this.#lanes.add(lane);
    return lane;
  }

  /**
   * Runs a script that may write, on the main lane, behind the fence.
   * @throws FenceError, WireError or ServerError.
   */
  write<S extends ScriptSpec>(script: Script<S>, call: CallOf<S>, op: string): Promise<ReplyOf<S>> {
    return this.#guarded(() => this.main.run(script, call, { op })) as Promise<ReplyOf<S>>;
  }

  /**
   * Runs a script that only reads; null where the queue does not exist yet, which creates nothing.
   * @throws FenceError, WireError or ServerError.
   */
  async read<S extends ScriptSpec>(
    script: Script<S>,
    call: CallOf<S>,
    op: string,
  ): Promise<ReplyOf<S> | null> {
    const { state } = await this.fence.check(this.main);
    if (state === "empty") return null;
    return this.#guarded(() => this.main.run(script, call, { op })) as Promise<ReplyOf<S>>;
  }

  // The reply's type is worked out once, by the callers: through a generic guard it has no end.
  #guarded(work: () => Promise<unknown>): Promise<unknown> {
    return this.fence.guard(this.main, this.clock, work);
  }

  /** Ends every lane and gives the driver back. Never rejects. */
  async close(mode: "drain" | "now" = "drain"): Promise<void> {
    await Promise.all([...this.#lanes].map((lane) => lane.close(mode)));
    await this.main.close(mode);
    await this.#resolved.release();
  }
}
