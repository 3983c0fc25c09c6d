import { ConfigError } from "@echomq/wire";
import type { RedisDriver } from "../driver/types.js";
import { ClusterLane } from "../lane/cluster.js";
import { Lane } from "../lane/lane.js";
import { connectTimeout } from "../lane/options.js";
import type {
  IoredisClient,
  IoredisDriverOptions,
  RawCluster,
  RawOptions,
  RawRedis,
} from "./client.js";
import { clusterNodes } from "./cluster.js";
import { openIoredis } from "./connection.js";

export type { IoredisClient, IoredisDriverOptions } from "./client.js";

/**
 * Makes a driver from an ioredis 5 or 6 client (`Redis` or `Cluster`), which is only read: the
 * driver opens connections of its own from the client's options.
 * @throws ConfigError `CONFIG` when the client is not ioredis or has a `keyPrefix`.
 * @throws ValidationError `VALIDATION` for a `connectTimeoutMs` that is no whole milliseconds.
 * @throws DriverFault `offline` with the cause when there is no connection within
 * `connectTimeoutMs`, or at once where no such host is known; `reply` when the server refuses the
 * credentials or has no such database; `closed` when `signal` is aborted.
 */
export async function ioredisDriver(
  client: IoredisClient,
  options: IoredisDriverOptions = {},
): Promise<RedisDriver & { [Symbol.asyncDispose](): Promise<void> }> {
  const connectTimeoutMs = connectTimeout(options.connectTimeoutMs);
  check(client);
  const lane = { name: "ioredis", role: "main", connectTimeoutMs } as const;
  if ("isCluster" in client && client.isCluster === true) {
    const nodes = await clusterNodes(client as unknown as RawCluster);
    return ClusterLane.open(nodes, lane, options.signal);
  }
  const redis = client as unknown as RawRedis;
  return Lane.open((request) => openIoredis(redis, {}, request), lane, options.signal);
}

function check(client: IoredisClient): void {
  if (typeof client?.duplicate !== "function" || typeof client.call !== "function") {
    throw new ConfigError({
      message: "connection: expected an ioredis 5 or 6 client (Redis or Cluster)",
      option: "connection",
    });
  }
  const { keyPrefix, redisOptions } = client.options as RawOptions;
  if (hasText(keyPrefix) || hasText(redisOptions?.keyPrefix)) {
    throw new ConfigError({
      message:
        "connection: the client has a keyPrefix, which would rename every key of the queue; " +
        "give a client without keyPrefix",
      option: "keyPrefix",
    });
  }
}

function hasText(prefix: string | Uint8Array | undefined): boolean {
  return prefix !== undefined && prefix !== null && prefix.length > 0;
}
