import { typedError } from "@echomq/scripts";
import { EchoMQError } from "@echomq/wire";
import { type Codec, JSON_CODEC } from "../options/serializer.js";
import { Session } from "./session.js";
import type { ConnectionOptions } from "./types.js";
import { within } from "./within.js";

/** How long a close waits for a connection that is just being opened, in ms; it is closed when it comes. */
const OPENING_MS = 1_000;

/** Opens a session at first use, and anew after an attempt that failed. */
export class LazySession {
  /** How payloads and results are written in this queue. */
  readonly codec: Codec;
  readonly #q: string;
  readonly #options: ConnectionOptions;
  #opening: Promise<Session> | undefined;
  #session: Session | undefined;
  #closing: Promise<void> | undefined;
  #end: () => void = () => undefined;
  /** Calls that wait for the connection need not wait for its end. */
  readonly #ended = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  constructor(q: string, options: ConnectionOptions, codec: Codec = JSON_CODEC) {
    this.codec = codec;
    this.#q = q;
    this.#options = options;
  }

  get closed(): boolean {
    return this.#closing !== undefined;
  }

  /**
   * The session, connected.
   * @throws ServerError `CONNECTION_LOST` when Redis cannot be reached, `EchoMQError` `CLOSED` after close.
   */
  async get(op: string): Promise<Session> {
    if (this.closed) throw closedError(op);
    if (this.#session) return this.#session;
    this.#opening ??= Session.open(this.#q, this.#options);
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
      throw typedError(error, op);
    }
    throw closedError(op);
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

/** The error of a call on an object that was closed. */
export function closedError(op: string): EchoMQError {
  return new EchoMQError({ code: "CLOSED", message: `${op}: this object was closed`, op });
}
