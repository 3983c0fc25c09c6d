import {
  type CallOf,
  Dispatcher,
  type DispatcherOptions,
  DriverFault,
  type LaneRole,
  type ReplyOf,
  type Script,
  type ScriptSpec,
  ServerClock,
  typedError,
} from "@echomq/scripts";
import { stampKey } from "@echomq/wire";
import { type Clock, SourceClock, type TimeFollower, type TimeSource, timeOf } from "./clock.js";
import { BootFence } from "./fence.js";
import { Neighbour } from "./neighbour.js";
import { type ResolvedDriver, resolveDriver } from "./resolve.js";
import type { ConnectionOptions } from "./types.js";
import { unlessAborted, within } from "./within.js";

/** How long closing may wait for the lanes to drain, in ms; what is left closes behind it. */
const CLOSE_MS = 3_000;
/** Defaults of the first connection's time, as those of a dispatcher's calls. */
const RETRY_MS = 10_000;
const TIMEOUT_MS = 5_000;

/** How a session connects, and what it tells its queue with the first write. */
export interface SessionOptions extends ConnectionOptions {
  /** Entries of the event stream that the queue is to keep; undefined leaves it as it is. */
  readonly eventsMax?: number | undefined;
}

/** One queue's connection: the main lane, the server's clock, the fence, and lanes opened on demand. */
export class Session {
  readonly q: string;
  readonly main: Dispatcher;
  readonly clock: Clock;
  /** The server's own time, also where {@link clock} tells another: for what other programs share. */
  readonly serverClock: ServerClock;
  readonly fence: BootFence;
  readonly #resolved: ResolvedDriver;
  readonly #options: DispatcherOptions;
  readonly #lanes = new Set<Dispatcher>();
  readonly #neighbours = new Map<string, Neighbour>();
  readonly #v1Prefixes: readonly string[] | undefined;
  readonly #source: TimeSource | undefined;
  readonly #unfollow: (() => void)[] = [];
  /** Aborted by close: gives up what is being opened. */
  readonly #end = new AbortController();

  private constructor(
    q: string,
    resolved: ResolvedDriver,
    options: SessionOptions,
    source: TimeSource | undefined,
  ) {
    this.q = q;
    this.#source = source;
    this.#resolved = resolved;
    const { commandTimeout, retryTime } = options;
    this.#options = { queue: q, timeoutMs: commandTimeout, retryMs: retryTime };
    this.main = Dispatcher.over(resolved.driver, this.#options);
    this.serverClock = new ServerClock(this.main, stampKey(q));
    this.clock = source ? new SourceClock(source) : this.serverClock;
    this.fence = new BootFence(q, options.v1Prefixes, options.eventsMax);
    this.#v1Prefixes = options.v1Prefixes;
    if (source) this.#unfollow.push(source.join(this));
  }

  /**
   * Connects.
   * @throws ConfigError or DriverFault as {@link resolveDriver}.
   */
  static async open(q: string, options: SessionOptions, signal?: AbortSignal): Promise<Session> {
    // Connecting is the first call's own retrying, and may take as long.
    const { retryTime = RETRY_MS, commandTimeout = TIMEOUT_MS } = options;
    const connectMs = Math.max(retryTime, commandTimeout);
    const { connection, source } = timeOf(options.connection);
    return new Session(q, await resolveDriver(connection, connectMs, signal), options, source);
  }

  /** Tells `follower` of jumps of a time that stands in for the server's, until the session ends. */
  follow(follower: TimeFollower): void {
    if (this.#source && !this.#end.signal.aborted)
      this.#unfollow.push(this.#source.follow(follower));
  }

  /**
   * Opens a lane of its own; it is closed with the session.
   * @throws ServerError `CONNECTION_LOST` when the server cannot be reached or the session was closed.
   */
  async lane(role: LaneRole): Promise<Dispatcher> {
    const { signal } = this.#end;
    const opening = Dispatcher.open(this.#resolved.driver, role, this.#options, signal);
    const lane = await unlessAborted(opening, signal);
    if (lane !== undefined) {
      this.#lanes.add(lane);
      return lane;
    }
    // A driver that cannot give it up is not waited for.
    opening.then((late) => late.close("now")).catch(() => undefined);
    throw typedError(new DriverFault("closed", "the session was closed"), {
      op: "connect",
      queue: this.q,
    });
  }

  /** Closes one lane before the session ends. Never rejects. */
  async drop(lane: Dispatcher): Promise<void> {
    this.#lanes.delete(lane);
    this.fence.forget(lane);
    await lane.close("now");
  }

  /**
   * Runs a script that may write, on the main lane, behind the fence. `resent` is told when a call that
   * may have run is sent again.
   * @throws FenceError, WireError or ServerError.
   */
  write<S extends ScriptSpec>(
    script: Script<S>,
    call: CallOf<S>,
    op: string,
    resent?: () => void,
  ): Promise<ReplyOf<S>> {
    return this.#guarded(() => this.main.run(script, call, { op, resent })) as Promise<ReplyOf<S>>;
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
    const known = this.#neighbours.get(q);
    if (known) return known;
    const clock = this.#source ? this.clock : new ServerClock(this.main, stampKey(q));
    const made = new Neighbour(q, this.main, clock, this.#v1Prefixes);
    this.#neighbours.set(q, made);
    return made;
  }

  /** Ends every lane and gives the driver back. Never rejects. */
  async close(mode: "drain" | "now" = "drain"): Promise<void> {
    this.#end.abort();
    for (const stop of this.#unfollow) stop();
    const lanes = [...this.#lanes, this.main].map((lane) => lane.close(mode));
    // A lane that is being replaced waits for its connection, which may never come.
    await within(Promise.all(lanes), CLOSE_MS);
    await within(this.#resolved.release(mode), CLOSE_MS);
  }
}
