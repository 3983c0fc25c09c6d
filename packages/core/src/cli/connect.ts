import { isClusterNode } from "@echomq/scripts/cli";
import { notInstalled, type ResolvedDriver, resolveDriver } from "../connection/resolve.js";

/** A person waits in front of it. */
export const CONNECT_MS = 3_000;

/**
 * Connects to the server of an address, or to the cluster it is a node of.
 * @throws ConfigError `CONFIG` when no client is installed; DriverFault when it cannot be reached.
 */
export async function connect(url: string): Promise<ResolvedDriver> {
  const single = await resolveDriver(url, CONNECT_MS);
  try {
    if (!(await isClusterNode(single.driver))) return single;
  } catch (error) {
    await single.release("now");
    throw error;
  }
  await single.release("now");
  return resolveDriver((await clusterClient(url)) as never, CONNECT_MS);
}

/** A client that never connects: it only carries the options its driver is made from. */
async function clusterClient(url: string): Promise<object> {
  const address = new URL(url);
  const login = {
    ...(address.username === "" ? {} : { username: decodeURIComponent(address.username) }),
    ...(address.password === "" ? {} : { password: decodeURIComponent(address.password) }),
  };
  const tls = address.protocol === "rediss:";
  const ioredis = await import("ioredis").catch(notInstalled);
  if (ioredis) {
    const host = address.hostname.replace(/^\[(.*)\]$/, "$1");
    return new ioredis.Cluster([{ host, port: Number(address.port || 6379) }], {
      lazyConnect: true,
      redisOptions: { ...login, ...(tls ? { tls: {} } : {}) },
    });
  }
  const { createCluster } = await import("redis");
  return createCluster({
    rootNodes: [{ url }],
    defaults: { ...login, ...(tls ? { socket: { tls: true } } : {}) },
  });
}
