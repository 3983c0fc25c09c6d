import type { Dispatcher } from "@echomq/scripts";
import { LIMITS, unitKey } from "@echomq/wire";
import { BlockingReads } from "../connection/blocking.js";
import type { Session } from "../connection/session.js";

/** Member of the marker that stands for the next due time; a control character is in no id. */
const DUE = "\u0001";

/** Why a wait ended. */
export type Wake =
  | { readonly type: "job"; readonly id: string }
  | { readonly type: "due"; readonly at: number }
  | { readonly type: "timeout" };

/** Waits on the queue's marker, on a lane of its own. */
export class Waker {
  readonly #session: Session;
  readonly #lane: Dispatcher;
  readonly #reads: BlockingReads;
  readonly #marker: string;

  constructor(session: Session, lane: Dispatcher) {
    this.#session = session;
    this.#lane = lane;
    this.#reads = new BlockingReads(lane);
    this.#marker = unitKey(session.q, "marker");
  }

  /**
   * Waits until there may be work, at most `ms` and never over 5 s.
   * @throws FenceError or ServerError; the connection is replaced when the reply is late.
   */
  async wait(ms: number): Promise<Wake> {
    await this.#session.fence.check(this.#lane);
    const block = Math.min(Math.max(ms, 10), LIMITS.blockMs);
    const command = ["BZPOPMIN", this.#marker, (block / 1_000).toFixed(3)];
    const reply = await this.#reads.read(command, this.#marker, block, "wait");
    if (!Array.isArray(reply)) return { type: "timeout" };
    const [, member, score] = reply as readonly string[];
    if (member === DUE) return { type: "due", at: Math.floor(Number(score)) };
    return { type: "job", id: member ?? "" };
  }

  /** Ends a wait at once. */
  close(): Promise<void> {
    return this.#lane.close("now");
  }
}
