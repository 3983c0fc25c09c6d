import { ConfigError } from "@echomq/wire";
import type { RedisDriver } from "../driver/types.js";
import { ClusterLane } from "../lane/cluster.js";
import { Lane } from "../lane/lane.js";
import { connectTimeout } from "../lane/options.js";
import type {
  NodeRedisClient,
  NodeRedisDriverOptions,
  RawClient,
  RawCluster,
  RawOptions,
} from "./client.js";
import { clusterNodes } from "./cluster.js";
import { openNodeRedis } from "./connection.js";

export type { NodeRedisClient, NodeRedisDriverOptions } from "./client.js";

/**
 * Makes a driver from a node-redis 5 or 6 client (`createClient` or `createCluster`), which is only
 * read and need not be connected: the driver opens connections of its own from its options.
 * @throws ConfigError `CONFIG` when the client is not such a client or has a `keyPrefix`.
 * @throws ValidationError `VALIDATION` for a `connectTimeoutMs` that is no whole milliseconds.
 * @throws DriverFault `offline` with the cause when there is no connection within
 * `connectTimeoutMs`, or at once where no such host is known; `reply` when the server refuses the
 * credentials or has no such database; `closed` when `signal` is aborted.
 */
export async function nodeRedisDriver(
  client: NodeRedisClient,
  options: NodeRedisDriverOptions = {},
): Promise<RedisDriver & { [Symbol.asyncDispose](): Promise<void> }> {
  const connectTimeoutMs = connectTimeout(options.connectTimeoutMs);
  const lane = { name: "node-redis", role: "main", connectTimeoutMs } as const;
  if (isCluster(client)) {
    refusePrefix(client._options);
    const nodes = await clusterNodes(client, connectTimeoutMs, options.signal);
    return ClusterLane.open(nodes, lane, options.signal);
  }
  if (isSingle(client)) {
    refusePrefix(client.options);
    return Lane.open((request) => openNodeRedis(client, {}, request), lane, options.signal);
  }
  throw new ConfigError({
    message: "connection: expected a node-redis 5 or 6 client (createClient or createCluster)",
    option: "connection",
  });
}

function isCluster(client: object): client is RawCluster {
  return (
    "masters" in client &&
    Array.isArray(client.masters) &&
    "nodeClient" in client &&
    typeof client.nodeClient === "function"
  );
}

// A pool and a sentinel also have `sendCommand`; only a client has `select` and `isReady`.
function isSingle(client: object): client is RawClient {
  return (
    "isReady" in client &&
    typeof client.isReady === "boolean" &&
    "duplicate" in client &&
    typeof client.duplicate === "function" &&
    "select" in client
  );
}

function refusePrefix(options: RawOptions | undefined): void {
  for (const prefix of [options?.keyPrefix, options?.defaults?.keyPrefix]) {
    if (prefix === undefined || prefix.length === 0) continue;
    throw new ConfigError({
      message:
        "connection: the client has a keyPrefix, which would rename every key of the queue; " +
        "give a client without keyPrefix",
      option: "keyPrefix",
    });
  }
}
