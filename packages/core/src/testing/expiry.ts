import { stampKey, unitKey } from "@echomq/wire";
import type { TimedSession, TimeFollower } from "../connection/clock.js";
import { keys } from "../doctor/scan.js";

const OP = "FakeClock.advance";

/** A key that the server itself counts down, and what is to be left of it. */
interface Countdown {
  readonly key: string;
  readonly ms: number;
}

/**
 * Takes a jump of time off what the server counts down by itself: deduplication records with a TTL and
 * the window of a rate. All are read before any is written, so that two sessions of one queue take it off
 * once.
 */
export class Expiry implements TimeFollower {
  readonly #session: TimedSession;
  #left: readonly Countdown[] = [];

  constructor(session: TimedSession) {
    this.#session = session;
  }

  async before(ms: number): Promise<void> {
    const { q, fence, main } = this.#session;
    this.#left = [];
    if ((await fence.check(main)).state === "empty") return;
    const found = [unitKey(q, "limiter")];
    for await (const page of keys(this.#session, "dedup", OP)) found.push(...page);
    const route = { key: stampKey(q) };
    const reads = found.map((key) => ["PTTL", key]);
    const left = (await main.readMany(reads, route, { op: OP })).map(Number);
    this.#left = found.flatMap((key, at) => {
      const now = left[at] ?? -1;
      return now < 0 ? [] : [{ key, ms: Math.max(now - ms, 0) }];
    });
  }

  async moved(): Promise<void> {
    const writes = this.#left.map(({ key, ms }) => ["PEXPIRE", key, String(ms)]);
    const route = { key: stampKey(this.#session.q) };
    if (writes.length > 0) await this.#session.main.readMany(writes, route, { op: OP });
  }
}
