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
import { Neighbour } from "./neighbour.js";
import { type ResolvedDriver, resolveDriver } from "./resolve.js";
import type { ConnectionOptions } from "./types.js";
import { within } from "./within.js";

/** How long closing may wait for the lanes to drain, in ms; what is left closes behind it. */
const CLOSE_MS = 3_000;
/** Defaults of the first connection's time, as those of a dispatcher's calls. */
const RETRY_MS = 10_000;
const TIMEOUT_MS = 5_000;

/** One queue's connection: the main lane, the server's clock, the fence, and lanes opened on demand. */
export class Session {
  readonly q: string;
  readonly main: Dispatcher;
  readonly clock: ServerClock;
  readonly fence: BootFence;
  readonly #resolved: ResolvedDriver;
  readonly #options: DispatcherOptions;
  readonly #lanes = new Set<Dispatcher>();
  readonly #neighbours = new Map<string, Neighbour>();
  readonly #v1Prefixes: readonly string[] | undefined;
  #closed = false;

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
    this.#v1Prefixes = options.v1Prefixes;
  }

  /**
   * Connects.
   * @throws ConfigError or DriverFault as {@link resolveDriver}.
   */
  static async open(q: string, options: ConnectionOptions): Promise<Session> {
    // Connecting is the first call's own retrying, and may take as long.
    const { retryTime = RETRY_MS, commandTimeout = TIMEOUT_MS } = options;
    const connectMs = Math.max(retryTime, commandTimeout);
    return new Session(q, await resolveDriver(options.connection, connectMs), options);
  }

  /**
   * Opens a lane of its own; it is closed with the session.
   * @throws ServerError `CONNECTION_LOST` when the server cannot be reached or the session was closed.
   */
  async lane(role: LaneRole): Promise<Dispatcher> {
    const lane = await Dispatcher.open(this.#resolved.driver, role, this.#options);
    this.#lanes.add(lane);
    if (this.#closed) await lane.close("now");
    return lane;
  }

  /** Closes one lane before the session ends. Never rejects. */
  async drop(lane: Dispatcher): Promise<void> {
    this.#lanes.delete(lane);
    this.fence.forget(lane);
    await lane.close("now");
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
    const work = (): Promise<unknown> => this.main.run(script, call, { op });
    return this.fence.look(this.main, work) as Promise<ReplyOf<S> | null>;
  }

  // The reply's type is worked out once, by the callers: through a generic guard it has no end.
  #guarded(work: () => Promise<unknown>): Promise<unknown> {
    return this.fence.guard(this.main, this.clock, work);
  }

  /** Another queue over this connection; the same object each time. */
  neighbour(q: string): Neighbour {
    const known = this.#neighbours.get(q) ?? new Neighbour(q, this.main, this.#v1Prefixes);
    this.#neighbours.set(q, known);
    return known;
  }

  /** Ends every lane and gives the driver back. Never rejects. */
  async close(mode: "drain" | "now" = "drain"): Promise<void> {
    this.#closed = true;
    const lanes = [...this.#lanes, this.main].map((lane) => lane.close(mode));
    // A lane that is being replaced waits for its connection, which may never come.
    await within(Promise.all(lanes), CLOSE_MS);
    await within(this.#resolved.release(mode), CLOSE_MS);
  }
}
