import type { Command } from "../driver/types.js";
import { Connection, type OpenRequest, proveReady } from "../lane/connection.js";
import { wireArgs } from "../lane/reply.js";
import type { RawRedis } from "./client.js";

/** One ioredis object for one connection: it never reconnects, so it never sends again. */
class IoredisConnection extends Connection {
  readonly #redis: RawRedis;
  #corked = false;

  constructor(redis: RawRedis) {
    super();
    this.#redis = redis;
  }

  protected get writable(): boolean {
    return this.#redis.status === "ready" && this.#redis.stream?.writable === true;
  }

  protected write(args: Command): Promise<unknown> {
    const rest = wireArgs(args, 1);
    // ioredis writes each command by itself: the cork joins what one tick sends.
    if (!this.#corked) {
      this.#corked = true;
      this.#redis.stream?.cork();
      process.nextTick(this.#flush);
    }
    // Upper case keeps ioredis from reshaping: it transforms `hgetall`, not `HGETALL`.
    return this.#redis.call(String(args[0]).toUpperCase(), rest);
  }

  readonly #flush = (): void => {
    this.#corked = false;
    this.#redis.stream?.uncork();
  };

  destroy(): void {
    abandon(this.#redis);
  }
}

function abandon(redis: RawRedis): void {
  redis.disconnect();
  // `disconnect` only half-closes and waits for the peer, who may never answer.
  redis.stream?.destroy();
}

/** Opens one connection with the options of `client`, `overrides` and none of its retrying. */
export async function openIoredis(
  client: RawRedis,
  overrides: Record<string, unknown>,
  request: OpenRequest,
): Promise<Connection> {
  const { signal } = request;
  const redis = client.duplicate({ ...laneOptions(client, request), ...overrides });
  let fail: (error: Error) => void = request.lost;
  const failed = new Promise<never>((_, reject) => {
    fail = (error) => {
      reject(error);
      request.lost(error);
    };
  });
  failed.catch(() => {});
  redis.on("error", (error) => fail(error));
  redis.on("end", () => fail(new Error("connection closed")));
  const abort = (): void => {
    fail(signal.reason instanceof Error ? signal.reason : new Error("connect given up"));
    abandon(redis);
  };
  signal.addEventListener("abort", abort, { once: true });
  try {
    const connection = new IoredisConnection(redis);
    const open = redis.connect().then(() => proveReady(connection));
    // A refused AUTH or SELECT ends as an `error` event, and `connect` may resolve all the same.
    open.catch(() => {});
    await Promise.race([failed, open]);
    return connection;
  } catch (error) {
    abandon(redis);
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function laneOptions(client: RawRedis, request: OpenRequest): Record<string, unknown> {
  const name = client.options.connectionName;
  return {
    lazyConnect: true,
    protocol: 2,
    replyMapping: undefined,
    connectionName: `${name === undefined || name === null ? "echomq" : name}:${request.role}`,
    connectTimeout: request.connectTimeoutMs,
    // Its timer outlives a socket that had closed before, and would hold the process.
    disconnectTimeout: 1,
    keyPrefix: "",
    readOnly: false,
    monitor: false,
    stringNumbers: false,
    showFriendlyErrorStack: false,
    scripts: undefined,
    enableOfflineQueue: false,
    enableAutoPipelining: false,
    // Sentinel needs ioredis' own check: it looks at the node's role.
    enableReadyCheck: client.options.sentinels != null,
    maxLoadingRetryTime: 500,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: null,
    retryStrategy: null,
    reconnectOnError: null,
    commandTimeout: undefined,
    socketTimeout: undefined,
    blockingTimeout: undefined,
  };
}
