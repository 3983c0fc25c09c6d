import { typedError } from "@echomq/scripts";
import { EchoMQError } from "@echomq/wire";
import { Session } from "./session.js";
import type { ConnectionOptions } from "./types.js";

/** Opens a session at first use, and anew after an attempt that failed. */
export class LazySession {
  readonly #q: string;
  readonly #options: ConnectionOptions;
  #opening: Promise<Session> | undefined;
  #closed = false;

  constructor(q: string, options: ConnectionOptions) {
    this.#q = q;
    this.#options = options;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /**
   * The session, connected.
   * @throws ServerError `CONNECTION_LOST` when Redis cannot be reached, `EchoMQError` `CLOSED` after close.
   */
  async get(op: string): Promise<Session> {
    if (this.#closed) {
      throw new EchoMQError({ code: "CLOSED", message: `${op}: this object was closed`, op });
    }
    this.#opening ??= Session.open(this.#q, this.#options);
    try {
      return await this.#opening;
    } catch (error) {
      this.#opening = undefined;
      throw typedError(error, op);
    }
  }

  /** Closes what was opened. Never rejects; a second call waits for nothing. */
  async close(mode: "drain" | "now" = "drain"): Promise<void> {
    this.#closed = true;
    const opening = this.#opening;
    this.#opening = undefined;
    const session = await opening?.catch(() => undefined);
    await session?.close(mode);
  }
}
