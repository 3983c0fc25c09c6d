import { checkConnection } from "../connection/address.js";
import {
  type TimedSession,
  type TimeFollower,
  type TimeSource,
  timed,
  timeOf,
} from "../connection/clock.js";
import type { ConnectionOption } from "../connection/types.js";
import { momentOf, refuse, shown, whole } from "../options/check.js";
import { DELAY_MAX_MS } from "../options/limits.js";
import { Expiry } from "./expiry.js";

/** A time of a test's own. It stands still until it is moved on. */
export interface FakeClock {
  /** What time it is, in Unix ms. */
  now(): number;
  /**
   * Moves time on by `ms`, up to ten years. Resolves once every worker of this clock has put in line what
   * is due and has been woken; calls go one after the other.
   * @throws ValidationError naming `ms`; `ServerError` when a server does not answer, and `FenceError`:
   * time then may not have moved.
   */
  advance(ms: number): Promise<void>;
  /**
   * Moves time on to a moment, which must not be past.
   * @throws ValidationError naming `time`; otherwise as {@link advance}.
   */
  advanceTo(time: Date | number): Promise<void>;
  /**
   * The connection for everything that is to take its time from this clock: queues, workers, events.
   * @throws ValidationError naming the part of the connection that is wrong.
   */
  connection(option: ConnectionOption): ConnectionOption;
}

/** Latest moment of a clock: beyond, a delay of ten years would leave what a `Date` can tell. */
const LATEST = 8_640_000_000_000_000 - DELAY_MAX_MS;

/**
 * A clock for tests. It begins at `start`, a `Date` or Unix ms; by default now.
 * @throws ValidationError naming `start`.
 */
export function createFakeClock(start?: Date | number): FakeClock {
  return new Fake(start === undefined ? Date.now() : momentAt("start", start));
}

class Fake implements FakeClock, TimeSource {
  #now: number;
  readonly #followers = new Set<TimeFollower>();
  #moving: Promise<void> = Promise.resolve();

  constructor(start: number) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  async advance(ms: number): Promise<void> {
    const by = whole("ms", ms, 0, DELAY_MAX_MS) ?? refuse("ms", "is required");
    await this.#inTurn(() => by);
  }

  async advanceTo(time: Date | number): Promise<void> {
    const to = momentAt("time", time);
    await this.#inTurn(() => {
      if (to < this.#now) refuse("time", `is past: it is ${new Date(this.#now).toISOString()}`);
      return to - this.#now;
    });
  }

  connection(option: ConnectionOption): ConnectionOption {
    checkConnection(option);
    return timed(option, this);
  }

  join(session: TimedSession): () => void {
    return this.follow(new Expiry(session));
  }

  follow(follower: TimeFollower): () => void {
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  #inTurn(by: () => number): Promise<void> {
    const turn = this.#moving.then(() => this.#jump(by()));
    this.#moving = turn.catch(() => undefined);
    return turn;
  }

  async #jump(ms: number): Promise<void> {
    if (this.#now + ms > LATEST) refuse("ms", "leads to a moment that no delay can be added to");
    await this.#ask((follower) => follower.before?.(ms));
    this.#now += ms;
    await this.#ask((follower) => follower.moved?.());
    await this.#ask((follower) => follower.after?.());
  }

  /** Who leaves meanwhile, because what it belongs to was closed, need not answer. */
  async #ask(question: (follower: TimeFollower) => Promise<void> | undefined): Promise<void> {
    const asked = [...this.#followers].map(async (follower) => {
      await Promise.resolve(question(follower)).catch((error: unknown) => {
        if (this.#followers.has(follower)) throw error;
      });
    });
    await Promise.all(asked);
  }
}

/** The clock of a connection option, where it has one of these. */
export function clockOf(option: ConnectionOption): FakeClock | undefined {
  const { source } = timeOf(option);
  return source instanceof Fake ? source : undefined;
}

function momentAt(option: string, value: unknown): number {
  const time = momentOf(value);
  if (time !== undefined && time <= LATEST) return time;
  return refuse(option, `must be a Date or whole ms of Unix time, got ${shown(value)}`);
}
