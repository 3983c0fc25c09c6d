/**
 * The seam between EchoMQ and a team's own Redis client. It is small and dumb on purpose: SHA cache,
 * `NOSCRIPT`, retries, error mapping and fences live above it, once, so no adapter repeats them.
 */

/** One command argument. Text is sent as UTF-8. */
export type Arg = string | Uint8Array;

/** A RESP2-shaped reply, whatever protocol the client speaks. Bulk strings arrive as UTF-8 text. */
export type Reply = string | number | null | readonly Reply[];

/** A command: its name and its arguments. */
export type Command = readonly Arg[];

/** The outcome of one command of a pipeline. */
export type Settled<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: Error };

/** What a lane is for. A `lease` lane never sends a command twice; a `blocking` lane waits on the server. */
export type LaneRole = "main" | "lease" | "blocking" | "events";

/**
 * State of a lane. `epoch` counts the connections it has had, from 1: whatever was in flight when the
 * number changed has an unknown outcome.
 */
export interface DriverState {
  readonly status: "connecting" | "ready" | "reconnecting" | "closed";
  readonly epoch: number;
  readonly error?: Error;
}

/** Where a command belongs. On a cluster `key` chooses the node; without it the adapter may choose any. */
export interface Route {
  readonly key?: string;
  readonly readOnly?: boolean;
}

/** One lane (connection) to a server or cluster. */
export interface RedisDriver {
  readonly info: {
    /** Name of the client behind the driver, e.g. `ioredis`. */
    readonly name: string;
    readonly cluster: boolean;
    readonly protocol: 2 | 3;
  };
  /** The lane's state now. */
  readonly state: DriverState;
  /**
   * Sends one command.
   * @throws DriverFault `reply` with the server's text unchanged, `connection` when the outcome is
   * unknown because the connection went, `offline` when nothing was sent, `closed` after `close`.
   */
  command(args: Command, route?: Route): Promise<Reply>;
  /** Sends commands in one write; replies come in order, each with its own outcome. */
  pipeline(commands: readonly Command[], route?: Route): Promise<readonly Settled<Reply>[]>;
  /**
   * Opens a lane of its own from the same client options. An aborted `signal` gives the attempt up at
   * once; a driver that does not know it takes until the attempt ends by itself.
   */
  fork(role: LaneRole, signal?: AbortSignal): Promise<RedisDriver>;
  /** Calls `listener` on each change of state; returns the way to stop. */
  onState(listener: (state: DriverState) => void): () => void;
  /** Ends the lane: `drain` lets what is in flight finish, `now` does not. Never rejects. */
  close(mode?: "drain" | "now"): Promise<void>;
}

/**
 * Why a driver call failed.
 * - `reply`: the server answered with an error; `message` is its text, unchanged.
 * - `connection`: the connection went while the command was in flight; it may have run.
 * - `offline`: the lane had no connection; nothing was sent.
 * - `closed`: the lane was closed by its owner.
 */
export type FaultKind = "reply" | "connection" | "offline" | "closed";

/** The only error a driver throws. Recognised by `fault`, not by class, so any driver can make one. */
export class DriverFault extends Error {
  override readonly name = "DriverFault";
  readonly fault: FaultKind;

  constructor(fault: FaultKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.fault = fault;
  }
}

/** True for a fault of any copy of this package. */
export function isDriverFault(error: unknown, fault?: FaultKind): error is DriverFault {
  if (!(error instanceof Error) || !("fault" in error)) return false;
  return fault === undefined || error.fault === fault;
}
