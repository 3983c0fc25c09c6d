import type { RedisDriver } from "@echomq/scripts";

/** What is used of an ioredis client. It is only read: EchoMQ opens connections of its own. */
export interface IoredisLike {
  duplicate(...args: never[]): unknown;
  call(...args: never[]): unknown;
}

/** What is used of a node-redis client. It is only read: EchoMQ opens connections of its own. */
export interface NodeRedisLike {
  duplicate(...args: never[]): unknown;
  sendCommand(...args: never[]): unknown;
}

/** Where a server is, for those who have no client yet. */
export interface ServerAddress {
  readonly host: string;
  /** Default 6379. */
  readonly port?: number | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** Database number, default 0. */
  readonly db?: number | undefined;
  readonly tls?: boolean | undefined;
}

/**
 * How to reach Redis or Valkey: a driver, an ioredis or node-redis client, a `redis://` or `rediss://`
 * URL, or an address. For the last two the first installed of `ioredis` and `redis` is used.
 */
export type ConnectionOption = RedisDriver | IoredisLike | NodeRedisLike | string | ServerAddress;

/** What every Queue and Worker takes. */
export interface ConnectionOptions {
  readonly connection: ConnectionOption;
  /** Prefixes at which a v1 queue of this name is looked for. Default `bull`, `{bull}` and `emq`. */
  readonly v1Prefixes?: readonly string[] | undefined;
  /** How long one command may take, in ms. Default 5 000. */
  readonly commandTimeout?: number | undefined;
  /** How long a call is tried again after transient trouble, in ms. Default 10 000; 0 never. */
  readonly retryTime?: number | undefined;
}
