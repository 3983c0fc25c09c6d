import { randomUUID } from "node:crypto";
import { createMint, type Mint } from "@echomq/ext-id";
import { nodeScript } from "@echomq/scripts";
import type { Session } from "../connection/session.js";

/** A lease lasts a minute and is renewed every 20 s; 1 024 processes can hold one at a time. */
const LEASE_MS = 60_000;
const RENEW_MS = 20_000;

/** Names this process to the server, so that all its queues share one node id. */
const PROCESS_TOKEN = randomUUID();
/** Mints by node id, for the whole process: two mints with one id would repeat ids. */
const mints = new Map<number, Mint>();
/** Queues that hold the process's lease, by server; the last to go gives it back. */
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

  /**
   * One new id.
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
    return this.mintNow();
  }

  /** One more id after {@link next} has given one in the same turn. */
  mintNow(): string {
    if (this.#mint === undefined) throw new TypeError("no node id is leased yet");
    return this.#mint.next();
  }

  /** Gives the node id back when no other queue of the process uses it. Never rejects. */
  async release(session: Session): Promise<void> {
    clearInterval(this.#timer);
    if (!this.#holds) return;
    this.#holds = false;
    holders -= 1;
    if (holders > 0) return;
    await this.#call(session, 0).catch(() => undefined); // it expires by itself
  }

  async #lease(session: Session): Promise<void> {
    const started = performance.now();
    const node = await this.#call(session, LEASE_MS);
    this.#until = started + LEASE_MS;
    const mint = mints.get(node) ?? createMint({ node });
    mints.set(node, mint);
    this.#mint = mint;
    if (this.#holds) return;
    this.#holds = true;
    holders += 1;
    this.#timer = setInterval(() => void this.#lease(session).catch(() => undefined), RENEW_MS);
    this.#timer.unref();
  }

  async #call(session: Session, ttl: number): Promise<number> {
    const now = await session.clock.now();
    const args = { now, ttl, token: PROCESS_TOKEN };
    return session.main.run(nodeScript, { q: session.q, args }, { op: "lease node id" });
  }
}
