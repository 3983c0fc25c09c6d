import { type Command, DriverFault, type LaneRole, type Reply } from "../driver/types.js";
import { plainReply } from "./reply.js";

/** What an adapter needs to open one connection. */
export interface OpenRequest {
  readonly role: LaneRole;
  /** Longest time for the TCP and TLS part, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** Aborted when the attempt is given up; the socket must be gone then, whatever its state. */
  readonly signal: AbortSignal;
  /** To call once, when an open connection went. */
  readonly lost: (error: Error) => void;
}

/** Opens one connection that is ready for commands, or rejects and leaves nothing behind. */
export type Opener = (request: OpenRequest) => Promise<Connection>;

/**
 * One connection, used once: when it goes, the lane throws the object away and opens another. So
 * nothing can be sent twice and no client's own reconnection has to be trusted.
 */
export abstract class Connection {
  /** Commands sent and not yet answered. */
  pending = 0;
  /** Called when the last pending command is answered. */
  onIdle: (() => void) | undefined;

  /** True while a command can be written. */
  protected abstract get writable(): boolean;
  /** Hands one command to the client. */
  protected abstract write(args: Command): Promise<unknown>;
  /** Ends the socket at once, in any state. Never throws. */
  abstract destroy(): void;

  send(args: Command): Promise<Reply> {
    if (!this.writable) return Promise.reject(offline());
    const answer = this.write(args);
    this.pending++;
    return answer.then(this.#succeed, this.#fail);
  }

  #settled(): void {
    if (--this.pending === 0) this.onIdle?.();
  }

  readonly #succeed = (reply: unknown): Reply => {
    this.#settled();
    return plainReply(reply);
  };

  // A client rejects for two reasons only: the server said so, or the connection is gone.
  readonly #fail = (error: unknown): never => {
    this.#settled();
    const text = messageOf(error);
    if (this.writable) throw new DriverFault("reply", text, error);
    throw new DriverFault("connection", `connection lost with a command in flight: ${text}`, error);
  };
}

/** The fault of a command on a lane without connection. */
export function offline(cause?: Error): DriverFault {
  const why = cause === undefined ? "" : `: ${cause.message}`;
  return new DriverFault("offline", `no connection, nothing was sent${why}`, cause);
}

/** The fault of a command on a lane its owner closed. */
export function closed(): DriverFault {
  return new DriverFault("closed", "the lane is closed");
}

/** A readable message of anything thrown; a failed dual-stack connect has an empty one of its own. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message !== "") return error.message;
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/** Turns what stopped a connect into a fault: a server's refusal keeps its text. */
export function connectFault(error: unknown): DriverFault {
  if (error instanceof DriverFault) return error;
  const text = messageOf(error);
  const refused = /^-?[A-Z][A-Z0-9]*(?: |$)/.test(text);
  return new DriverFault(refused ? "reply" : "connection", text, error);
}

/** A `PING` proves the lane usable: a server that is loading or wants a password refuses it. */
export async function proveReady(connection: Connection): Promise<void> {
  try {
    await connection.send(["PING"]);
  } catch (error) {
    if (!(error instanceof DriverFault && error.message.startsWith("NOPERM "))) throw error;
  }
}
