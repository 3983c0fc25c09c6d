import { randomUUID } from "node:crypto";
import { createMint, type Mint } from "@echomq/ext-id";
import { nodeScript } from "@echomq/scripts";
import type { Session } from "../connection/session.js";

/** A lease lasts a minute and is renewed every 20 s; 1 024 processes can hold one at a time. */
const LEASE_MS = 60_000;
const RENEW_MS = 20_000;

/**
 * Names this process to the server, so that all its queues share one node id. A new name with each
 * release: a lease taken while the release is on its way must not be ended by it.
 */
let processToken = randomUUID();
/** Mints by node id, for the whole process: two mints with one id would repeat ids. */
const mints = new Map<number, Mint>();
/** Queues that hold the process's lease or are taking it; the last to go gives it back. */
let holders = 0;

/**
 * Makes job ids. The node id in them is leased from `{emq}:nodes` with the first id and kept while the
 * queue lives. When the lease could not be renewed in time, minting waits until it is leased again.
 */
export class JobIds {
  #mint: Mint | undefined;
  /** Monotonic ms until which the lease certainly holds. */
  #until = Number.NEGATIVE_INFINITY;
  #leasing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #holds = false;
  #session: Session | undefined;

  /** One new id while the node id is surely ours; undefined where {@link next} must lease it first. */
  ready(): string | undefined {
    return this.leased ? this.#mint?.next() : undefined;
  }

  /** The node id is surely ours now. */
  get leased(): boolean {
    return performance.now() < this.#until;
  }

  /**
   * One new id. The fence must have let the session through: leasing writes.
   * @throws WireError `EMQFULL` when 1 024 processes hold a node id, `ServerError` when the lease
   * cannot be had.
   */
  async next(session: Session): Promise<string> {
    if (this.#mint === undefined || performance.now() >= this.#until) {
      this.#leasing ??= this.#lease(session).finally(() => {
        this.#leasing = undefined;
      });
      await this.#leasing;
    }
    if (this.#mint === undefined) throw new TypeError("no node id is leased yet");
    return this.#mint.next();
  }

  /** Gives the node id back when no other queue of the process uses it. Never rejects. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    const session = this.#session;
    if (!this.#holds || session === undefined) return;
    this.#holds = false;
    this.#until = Number.NEGATIVE_INFINITY;
    const token = processToken;
    if (!leave()) return;
    const args = { now: session.serverClock.read(), ttl: 0, token };
    const options = { op: "release node id", retryMs: 0, timeoutMs: 1_000 };
    // Where it does not arrive the lease expires by itself.
    await session.main.run(nodeScript, { q: session.q, args }, options).catch(() => undefined);
  }

  async #lease(session: Session): Promise<void> {
    const started = performance.now();
    const first = !this.#holds;
    if (first) {
      this.#holds = true;
      holders += 1;
    }
    try {
      // Every process of the server shares the ids, also those of another time.
      const args = { now: await session.serverClock.now(), ttl: LEASE_MS, token: processToken };
      const node = await session.write(nodeScript, { q: session.q, args }, "lease node id");
      this.#session = session;
      this.#until = started + LEASE_MS;
      const mint = mints.get(node) ?? createMint({ node });
      mints.set(node, mint);
      this.#mint = mint;
    } catch (error) {
      if (first && this.#holds) {
        this.#holds = false;
        leave();
      }
      throw error;
    }
    if (!first || !this.#holds) return;
    this.#timer = setInterval(() => void this.#lease(session).catch(() => undefined), RENEW_MS);
    this.#timer.unref();
  }
}

/** One holder less; true when it was the last. */
function leave(): boolean {
  holders -= 1;
  if (holders > 0) return false;
  processToken = randomUUID();
  return true;
}
