import type { Dispatcher } from "@echomq/scripts";
import { LIMITS, unitKey } from "@echomq/wire";
import type { Session } from "../connection/session.js";

/** Member of the marker that stands for the next due time; a control character is in no id. */
const DUE = "\u0001";
/** How long past its own timeout a blocking read may take before its connection is thrown away, in ms. */
const GRACE_MS = 2_000;

/** Why a wait ended. */
export type Wake =
  | { readonly type: "job"; readonly id: string }
  | { readonly type: "due"; readonly at: number }
  | { readonly type: "timeout" };

/** Waits on the queue's marker, on a lane of its own. */
export class Waker {
  readonly #session: Session;
  readonly #lane: Dispatcher;
  readonly #marker: string;

  constructor(session: Session, lane: Dispatcher) {
    this.#session = session;
    this.#lane = lane;
    this.#marker = unitKey(session.q, "marker");
  }

  /**
   * Waits until there may be work, at most `ms` and never over 5 s.
   * @throws FenceError or ServerError; the connection is replaced when the reply is late.
   */
  async wait(ms: number): Promise<Wake> {
    await this.#session.fence.check(this.#lane);
    const block = Math.min(Math.max(ms, 10), LIMITS.blockMs);
    const reply = await this.#lane.command(
      ["BZPOPMIN", this.#marker, (block / 1_000).toFixed(3)],
      { key: this.#marker },
      // Not sent again: a lost reply costs one wake-up, which the timeout makes good.
      { op: "wait", timeoutMs: block + GRACE_MS, retryMs: 0 },
    );
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
