/**
 * What the driver reads of an ioredis 5 or 6 client. `Redis` and `Cluster` both fit; the client is
 * never connected, changed or closed by the driver.
 */
export interface IoredisClient {
  readonly options: object;
  duplicate(...args: never[]): unknown;
  call(...args: never[]): unknown;
}

/** Options of `ioredisDriver`. */
export interface IoredisDriverOptions {
  /** Longest wait for the first connection, in milliseconds. Default 10 000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Gives the first connection up when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** The options of ioredis that the driver looks at. */
export interface RawOptions {
  readonly keyPrefix?: string | Uint8Array;
  readonly connectionName?: string | null;
  readonly sentinels?: unknown;
  readonly redisOptions?: RawOptions;
  readonly natMap?: unknown;
  readonly host?: string;
  readonly port?: number;
}

/** The members of a connection of our own. */
export interface RawRedis {
  readonly options: RawOptions;
  readonly status: string;
  readonly stream?: {
    readonly writable: boolean;
    cork(): void;
    uncork(): void;
    destroy(): void;
  };
  duplicate(overrides: Record<string, unknown>): RawRedis;
  call(name: string, args: readonly unknown[]): Promise<unknown>;
  connect(): Promise<void>;
  disconnect(): void;
  on(event: string, listener: (argument: Error) => void): unknown;
}

/** The members of a cluster client, given or of our own. */
export interface RawCluster {
  readonly options: RawOptions;
  nodes(role: string): RawRedis[];
  duplicate(nodes: readonly unknown[], overrides: Record<string, unknown>): RawCluster;
  connect(): Promise<void>;
  disconnect(): void;
  on(event: string, listener: (argument: RawRedis) => void): unknown;
}
