import type { Dispatcher, ServerClock } from "@echomq/scripts";
import type { ConnectionOption } from "./types.js";

/** The server's time, as the parts of a session ask for it. */
export type Clock = Pick<ServerClock, "now" | "known" | "read" | "exact" | "steadyFor">;

/** Who must know before time jumps, and after. In each step all are asked before the next begins. */
export interface TimeFollower {
  /** Time will go on by `ms`; a rejection keeps it where it is. */
  before?(ms: number): Promise<void>;
  /** It has. */
  moved?(): Promise<void>;
  /** Everybody knows. */
  after?(): Promise<void>;
}

/** What a source needs of a session. */
export interface TimedSession {
  readonly q: string;
  readonly main: Dispatcher;
  readonly fence: { check(lane: Dispatcher): Promise<{ readonly state: string }> };
}

/** A time that stands in for the server's. */
export interface TimeSource {
  /** Unix ms, whole. */
  now(): number;
  /** A session has begun to take its time from here; returns the way to leave. */
  join(session: TimedSession): () => void;
  /** Tells `follower` of each jump; returns the way to stop. */
  follow(follower: TimeFollower): () => void;
}

/** A clock that tells the time of a source. It is steady: a jump is told to all who hold leases. */
export class SourceClock implements Clock {
  readonly #source: TimeSource;
  readonly steadyFor: number = Number.POSITIVE_INFINITY;

  constructor(source: TimeSource) {
    this.#source = source;
  }

  async now(): Promise<number> {
    return this.#source.now();
  }

  async exact(): Promise<number> {
    return this.#source.now();
  }

  known(): number {
    return this.#source.now();
  }

  read(): number {
    return this.#source.now();
  }
}

/** A connection and the time of those who use it. */
interface Timed {
  readonly connection: ConnectionOption;
  readonly source: TimeSource;
}

/** Kept here and nowhere on the option itself: no option of a user's can bring a time of its own. */
const known = new WeakMap<object, Timed>();

/** A connection option whose users take their time from a source instead of the server. */
export function timed(connection: ConnectionOption, source: TimeSource): ConnectionOption {
  const option = Object.freeze({});
  known.set(option, { connection: timeOf(connection).connection, source });
  return option as ConnectionOption;
}

/** The connection behind an option, and its time where that is not the server's. */
export function timeOf(option: ConnectionOption): {
  readonly connection: ConnectionOption;
  readonly source?: TimeSource;
} {
  const found = typeof option === "object" && option !== null ? known.get(option) : undefined;
  return found ?? { connection: option };
}
