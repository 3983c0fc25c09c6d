import { typedError } from "@echomq/scripts";
import { EchoMQError } from "@echomq/wire";
import { PAYLOAD_MAX } from "../options/limits.js";
import { type Codec, JSON_CODEC } from "../options/serializer.js";
import { Session, type SessionOptions } from "./session.js";
import type { ConnectionOptions } from "./types.js";
import { within } from "./within.js";

/**
 * How long a close waits for a connection that is just being opened, in ms: a driver that cannot give it up
 * is closed when it comes.
 */
const OPENING_MS = 1_000;

/** How payloads are stored. */
export interface Storing {
  readonly codec?: Codec;
  readonly maxDataSize?: number;
  /** Entries of the event stream that the queue is to keep; undefined leaves it as it is. */
  readonly eventsMax?: number | undefined;
}

/** Opens a session at first use, and anew after an attempt that failed. */
export class LazySession {
  /** How payloads and results are written in this queue. */
  readonly codec: Codec;
  /** Largest payload, in bytes as it is stored. */
  readonly maxDataSize: number;
  readonly #q: string;
  readonly #options: SessionOptions;
  #opening: Promise<Session> | undefined;
  #session: Session | undefined;
  #closing: Promise<void> | undefined;
  readonly #giveUp = new AbortController();
  #end: () => void = () => undefined;
  /** Calls that wait for the connection need not wait for its end. */
  readonly #ended = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  constructor(q: string, options: ConnectionOptions, storing: Storing = {}) {
    const { codec = JSON_CODEC, maxDataSize = PAYLOAD_MAX, eventsMax } = storing;
    this.codec = codec;
    this.maxDataSize = maxDataSize;
    this.#q = q;
    // A copy of what was checked: it is used with the first call, and again after a connection was dropped.
    this.#options = { ...options, ...copied(options.v1Prefixes), eventsMax };
  }

  get closed(): boolean {
    return this.#closing !== undefined;
  }

  /** The session where it is open; undefined where {@link get} has something to do or to refuse. */
  get current(): Session | undefined {
    return this.closed ? undefined : this.#session;
  }

  /**
   * The session, connected.
   * @throws ServerError `CONNECTION_LOST` when Redis cannot be reached, `EchoMQError` `CLOSED` after close.
   */
  async get(op: string): Promise<Session> {
    if (this.closed) throw closedError(op, this.#q);
    if (this.#session) return this.#session;
    this.#opening ??= Session.open(this.#q, this.#options, this.#giveUp.signal);
    const opening = this.#opening;
    try {
      const session = await Promise.race([opening, this.#ended]);
      if (session && !this.closed) {
        this.#session = session;
        return session;
      }
    } catch (error) {
      // Another caller may have begun a new attempt since.
      if (this.#opening === opening) this.#opening = undefined;
      throw typedError(error, { op, queue: this.#q });
    }
    throw closedError(op, this.#q);
  }

  /** Ends the connection, to be opened anew by the next call. Never rejects. */
  async drop(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    this.#opening = undefined;
    await session?.close("now");
  }

  /** Closes what was opened. Never rejects. */
  close(mode: "drain" | "now" = "drain"): Promise<void> {
    this.#closing ??= this.#close(mode);
    return this.#closing;
  }

  async #close(mode: "drain" | "now"): Promise<void> {
    this.#end();
    this.#giveUp.abort();
    const opening = this.#opening;
    if (opening === undefined) return;
    this.#opening = undefined;
    let closed: Promise<void> | undefined;
    const opened = opening.then(
      (session) => {
        closed = session.close(mode);
      },
      () => undefined,
    );
    await within(opened, OPENING_MS);
    await closed;
  }
}

function copied(v1Prefixes: readonly string[] | undefined): Partial<ConnectionOptions> {
  return v1Prefixes === undefined ? {} : { v1Prefixes: [...v1Prefixes] };
}

/** The error of a call on an object that was closed. */
export function closedError(op: string, queue?: string): EchoMQError {
  const message = `${queue === undefined ? `${op}: ` : ""}it was closed; make a new one to go on`;
  return new EchoMQError({ code: "CLOSED", message, op, queue });
}
