import type { RedisDriver } from "@echomq/scripts";
import { addressFault, isClusterNode, UsageError } from "@echomq/scripts/cli";
import { onCluster } from "../migration.js";

/** Clients the tool can connect with; both are optional peers. */
export type DriverName = "ioredis" | "node-redis";

const PEERS = { ioredis: "ioredis", "node-redis": "redis" } as const;

/** A person waits in front of it. */
const CONNECT = { connectTimeoutMs: 3_000 };

/**
 * Opens a driver for an address, with the client asked for, else the first that is installed.
 * @throws UsageError when no client is installed; MigrationError `CLUSTER` for a node of a cluster.
 */
export async function connect(
  url: string,
  name: DriverName | undefined,
  queue = "",
): Promise<RedisDriver> {
  for (const candidate of name === undefined ? (["ioredis", "node-redis"] as const) : [name]) {
    const driver = await open(candidate, url);
    if (driver === null) continue;
    // Told by the server: an address does not say it.
    if (!(await isClusterNode(driver))) return driver;
    await driver.close("now");
    throw onCluster(queue);
  }
  const peer = name === undefined ? "ioredis" : PEERS[name];
  throw new UsageError(`no Redis client is installed: npm install ${peer}`);
}

/** @throws UsageError naming what gave it, when the text is no address of a server. */
export function checkAddress(url: string, from: string): void {
  const fault = addressFault(url);
  if (fault !== null) throw new UsageError(`${from}: ${fault}`);
}

async function open(name: DriverName, url: string): Promise<RedisDriver | null> {
  try {
    if (name === "ioredis") {
      const { Redis } = await import("ioredis");
      const { ioredisDriver } = await import("@echomq/scripts/ioredis");
      return await ioredisDriver(new Redis(url, { lazyConnect: true }), CONNECT);
    }
    const { createClient } = await import("redis");
    const { nodeRedisDriver } = await import("@echomq/scripts/node-redis");
    return await nodeRedisDriver(createClient({ url }), CONNECT);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND") return null;
    throw error;
  }
}
