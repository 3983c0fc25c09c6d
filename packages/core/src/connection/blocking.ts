import type { Command, Dispatcher, Reply } from "@echomq/scripts";
import { isEchoMQError } from "@echomq/wire";

/** How long past its own timeout a blocking read may take before its connection is thrown away, in ms. */
const GRACE_MS = 2_000;
/** How often in a row the server may end a wait before that is told as trouble. */
const UNBLOCKED_MAX = 5;

/** Reads that block on the server, one after the other on a lane of their own. */
export class BlockingReads {
  readonly #lane: Dispatcher;
  /** Waits in a row that the server ended. */
  #unblocked = 0;

  constructor(lane: Dispatcher) {
    this.#lane = lane;
  }

  /**
   * Sends a read that blocks for `ms` at most; null when nothing came. It is not sent again: a lost reply
   * costs one wake-up, which the timeout makes good.
   * @throws ServerError; the connection is replaced when the reply is late.
   */
  async read(command: Command, key: string, ms: number, op: string): Promise<Reply> {
    try {
      const options = { op, timeoutMs: ms + GRACE_MS, retryMs: 0 };
      const reply = await this.#lane.command(command, { key }, options);
      this.#unblocked = 0;
      return reply;
    } catch (error) {
      // A server that changes its role or gives a slot away ends all waits: whoever looks next learns
      // what has come. Only again and again is it trouble.
      if (this.#unblocked >= UNBLOCKED_MAX || !isEchoMQError(error, "UNBLOCKED")) throw error;
      this.#unblocked += 1;
      return null;
    }
  }
}
