/**
 * What the driver reads of a node-redis 5 or 6 client, single or cluster. The client is never
 * connected, changed or closed by the driver.
 */
export interface NodeRedisClient {
  duplicate(...args: never[]): unknown;
  sendCommand(...args: never[]): unknown;
}

/** Options of `nodeRedisDriver`. */
export interface NodeRedisDriverOptions {
  /** Longest wait for the first connection, in milliseconds. Default 10 000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Gives the first connection up when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** The options of node-redis that the driver looks at. */
export interface RawOptions {
  readonly socket?: Record<string, unknown>;
  readonly name?: string;
  readonly keyPrefix?: string | Uint8Array;
  readonly defaults?: RawOptions;
  readonly nodeAddressMap?: unknown;
  readonly rootNodes?: readonly RawOptions[];
}

/** The members of a connection of our own. */
export interface RawClient {
  readonly options?: RawOptions;
  readonly isReady: boolean;
  duplicate(overrides: Record<string, unknown>): RawClient;
  sendCommand(args: readonly (string | Buffer)[]): Promise<unknown>;
  connect(): Promise<unknown>;
  destroy(): void;
  quit(): Promise<unknown>;
  on(event: "error", listener: (error: Error) => void): unknown;
}

export interface RawNode {
  readonly host: string;
  readonly port: number;
  readonly client?: RawClient | Promise<RawClient>;
}

/** The members of a cluster client, given or of our own. */
export interface RawCluster {
  readonly masters: readonly RawNode[];
  readonly _options?: RawOptions;
  duplicate(overrides: Record<string, unknown>): RawCluster;
  connect(): Promise<unknown>;
  destroy(): void;
  nodeClient(node: RawNode): RawClient | Promise<RawClient>;
  on(event: "error", listener: (error: Error) => void): unknown;
}
