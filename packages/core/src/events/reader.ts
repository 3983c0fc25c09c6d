import { type Dispatcher, type ReplyOf, tailScript } from "@echomq/scripts";
import { LIMITS, unitKey } from "@echomq/wire";
import { BlockingReads } from "../connection/blocking.js";
import type { Session } from "../connection/session.js";
import type { Fields } from "../job/fields.js";
import { storedOn } from "../job/stored.js";
import { expand, type RawEvent } from "./expand.js";
import { compareEntries, idOf, type Place, START } from "./place.js";
import type { EventGap } from "./types.js";

/** Most entries of one read: each holds at most 100 events and about 64 KB. */
const ENTRIES = 32;
/** Most jobs whose large values are fetched in one call. */
const FETCH = 10;

type TailReply = ReplyOf<typeof tailScript.spec>;

/** What one read has found. */
export interface Found {
  readonly events: readonly RawEvent[];
  /** Fields of the jobs whose values are referred to. */
  readonly fields: ReadonlyMap<string, Fields>;
  readonly gap?: EventGap;
  /** Where to go on once the events are told. */
  readonly next: Place;
  /** There is more to read at once. */
  readonly more: boolean;
}

/** Reads a queue's event stream on a lane of its own. */
export class EventReader {
  readonly #session: Session;
  readonly #lane: Dispatcher;
  readonly #reads: BlockingReads;
  readonly #key: string;

  constructor(session: Session, lane: Dispatcher) {
    this.#session = session;
    this.#lane = lane;
    this.#reads = new BlockingReads(lane);
    this.#key = unitKey(session.q, "events");
  }

  /** The place of the newest entry there is: what follows is everything from now on. */
  async now(): Promise<Place> {
    const reply = await this.#tail(START, 0);
    return reply?.top ? { entry: reply.top } : START;
  }

  /**
   * Reads what follows a place.
   * @throws FenceError or ServerError.
   */
  async read(place: Place): Promise<Found> {
    const reply = await this.#tail(place, ENTRIES);
    const none = { events: [], fields: new Map<string, Fields>(), more: false };
    if (!reply || reply.top === "") {
      // Nothing stands there, so all that comes is new.
      const lost = place.entry === START.entry ? {} : { gap: { after: idOf(place) } };
      return { ...none, ...lost, next: START };
    }
    if (compareEntries(reply.top, place.entry) < 0) {
      // The stream is older than what was read of it: a failover or a new stream behind a set clock.
      const gap = { after: idOf(place), next: reply.top };
      return { ...none, gap, next: { entry: reply.top } };
    }
    const trimmed = place.entry !== START.entry && compareEntries(reply.first, place.entry) > 0;
    const events = reply.entries.flatMap(({ id, pairs }) =>
      expand(id, pairs, id === place.entry ? (place.index ?? -1) + 1 : 0),
    );
    const last = reply.entries.at(-1);
    return {
      events,
      fields: await this.#fetch(events),
      ...(trimmed ? { gap: { after: idOf(place), next: reply.first } } : {}),
      next: last ? { entry: last.id } : { entry: place.entry },
      more: reply.entries.length === ENTRIES,
    };
  }

  /**
   * Waits until something follows a place, at most 5 s.
   * @throws FenceError or ServerError; the connection is replaced when the reply is late.
   */
  async wait(place: Place): Promise<void> {
    await this.#session.fence.check(this.#lane);
    const block = LIMITS.blockMs;
    // One entry is enough to wake: the read that follows meets the fence and sees what was trimmed.
    const stream = ["STREAMS", this.#key, place.entry];
    const command = ["XREAD", "COUNT", "1", "BLOCK", String(block), ...stream];
    await this.#reads.read(command, this.#key, block, "events");
  }

  /** Throws the connection away, as `close` does. */
  close(): Promise<void> {
    return this.#lane.close("now");
  }

  #tail(place: Place, count: number): Promise<TailReply | null> {
    const args = {
      after: place.entry,
      inclusive: place.index === undefined ? 0 : 1,
      count,
    };
    const call = { q: this.#session.q, args };
    return this.#session.fence.look(this.#lane, () =>
      this.#lane.run(tailScript, call, { op: "events" }),
    );
  }

  async #fetch(events: readonly RawEvent[]): Promise<ReadonlyMap<string, Fields>> {
    const found = new Map<string, Fields>();
    const ids = [...new Set(events.filter(({ referred }) => referred).map(({ id }) => id))];
    for (let at = 0; at < ids.length; at += FETCH) {
      const jobs = ids.slice(at, at + FETCH);
      for (const one of await storedOn(this.#lane, this.#session.q, jobs, "events")) {
        if (one) found.set(one.id, one.fields);
      }
    }
    return found;
  }
}
