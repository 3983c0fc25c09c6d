import type { RedisDriver } from "@echomq/scripts";
import { ioredisDriver } from "@echomq/scripts/ioredis";
import { nodeRedisDriver } from "@echomq/scripts/node-redis";
import { Cluster } from "ioredis";
import { createCluster } from "redis";
import { onTestFinished } from "vitest";
import type { DriverName } from "./bench.js";

/** A cluster client as a user has one: it need not be connected. */
export function clusterClient(
  urls: readonly string[],
  name: DriverName,
): Cluster | ReturnType<typeof createCluster> {
  if (name === "node-redis") {
    return createCluster({ rootNodes: urls.map((url) => ({ url })) }) as ReturnType<
      typeof createCluster
    >;
  }
  const addresses = urls.map((url) => new URL(url));
  return new Cluster(
    addresses.map(({ hostname, port }) => ({ host: hostname, port: Number(port) })),
    { lazyConnect: true },
  );
}

/** A driver of its own for a cluster, closed when the test ends. */
export async function clusterDriver(
  urls: readonly string[],
  name: DriverName,
): Promise<RedisDriver> {
  const client = clusterClient(urls, name);
  const driver = await (client instanceof Cluster
    ? ioredisDriver(client)
    : nodeRedisDriver(client));
  onTestFinished(() => driver.close("now"));
  return driver;
}
