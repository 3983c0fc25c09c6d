import type { RedisDriver, Route } from "../driver/types.js";

/** What the kit needs to know of a driver under test. */
export interface DriverFactory {
  /** Opens a driver on a server the kit may write keys to; resolves when it is ready. */
  open(): Promise<RedisDriver>;
  /**
   * Opens a driver on an address where nothing listens. It has to reject with a fault before the
   * test runner's own time limit. Without it the cases of an unreachable server are left out.
   */
  unreachable?(): Promise<RedisDriver>;
  /**
   * A server the kit may stop and start, with a driver of its own. Without it the cases of an outage
   * are left out.
   */
  outage?(): Promise<Outage>;
}

/** A server that only one case uses. */
export interface Outage {
  open(): Promise<RedisDriver>;
  /** Ends the server process at once. */
  stop(): Promise<void>;
  /** Starts it again on the same address. */
  start(): Promise<void>;
  /** Called at the end of the case. */
  end(): Promise<void>;
}

/** What a case works with. */
export interface KitContext {
  readonly factory: DriverFactory;
  /** Opens a driver that is closed at the end of the case. */
  open(): Promise<RedisDriver>;
  /** Has a lane closed at the end of the case. */
  own<T extends RedisDriver>(driver: T): T;
  /** A key of this case; all keys of a case share one cluster slot. */
  key(name: string): string;
  /** The route of those keys. */
  readonly route: Route;
}

/** One case of the kit. Its id never changes meaning. */
export interface KitCase {
  readonly id: string;
  readonly title: string;
  /** The hook of the factory it cannot do without. */
  readonly needs?: "unreachable" | "outage";
  run(context: KitContext): Promise<void>;
}
