import { createServer, type Server } from "node:net";
import { Cluster, Redis } from "ioredis";
import { Cluster as Cluster6, Redis as Redis6 } from "ioredis-6";
import { createClient, createCluster } from "redis";
import { createClient as createClient6, createCluster as createCluster6 } from "redis-6";
import type { RedisDriver } from "../../src/driver/types.js";
import { ioredisDriver } from "../../src/ioredis/index.js";
import { nodeRedisDriver } from "../../src/node-redis/index.js";

/** One client library in one major version, and how a driver is made from it. */
export interface Maker {
  readonly name: string;
  /** A client that is not connected, and its end. */
  client(url: string): { client: object; end(): void };
  /** A driver from a client of its own. */
  open(url: string, connectTimeoutMs?: number): Promise<RedisDriver>;
  /** A driver from the given client. */
  from(client: object, connectTimeoutMs?: number): Promise<RedisDriver>;
  /** A driver from a cluster client that was never connected. */
  openCluster(urls: readonly string[], connectTimeoutMs?: number): Promise<RedisDriver>;
}

const options = (connectTimeoutMs: number | undefined): { connectTimeoutMs?: number } =>
  connectTimeoutMs === undefined ? {} : { connectTimeoutMs };

const address = (url: string): { host: string; port: number } => {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
};

const ioredis = (name: string, Client: typeof Redis, Nodes: typeof Cluster): Maker => ({
  name,
  client(url) {
    const client = new Client(url, { lazyConnect: true });
    return { client, end: () => client.disconnect() };
  },
  open: (url, ms) => ioredisDriver(new Client(url, { lazyConnect: true }), options(ms)),
  from: (client, ms) => ioredisDriver(client as Redis, options(ms)),
  openCluster(urls, ms) {
    const client = new Nodes(urls.map(address), { lazyConnect: true });
    return ioredisDriver(client, options(ms));
  },
});

const nodeRedis = (
  name: string,
  create: typeof createClient,
  createNodes: typeof createCluster,
): Maker => ({
  name,
  client(url) {
    return { client: create({ url }), end: () => {} };
  },
  open: (url, ms) => nodeRedisDriver(create({ url }), options(ms)),
  from: (client, ms) => nodeRedisDriver(client as never, options(ms)),
  openCluster(urls, ms) {
    const client = createNodes({ rootNodes: urls.map((url) => ({ url })) });
    return nodeRedisDriver(client, options(ms));
  },
});

/** ioredis 5 and 6. */
export const ioredisMakers: readonly Maker[] = [
  ioredis("ioredis 5", Redis, Cluster),
  ioredis("ioredis 6", Redis6 as unknown as typeof Redis, Cluster6 as unknown as typeof Cluster),
];

/** node-redis 5 and 6. */
export const nodeRedisMakers: readonly Maker[] = [
  nodeRedis("node-redis 5", createClient, createCluster),
  nodeRedis(
    "node-redis 6",
    createClient6 as unknown as typeof createClient,
    createCluster6 as unknown as typeof createCluster,
  ),
];

/** A server that accepts connections and never answers. */
export async function silentServer(): Promise<{ url: string; sockets(): number; end(): void }> {
  let open = 0;
  const server: Server = createServer((socket) => {
    open++;
    socket.on("error", () => {});
    socket.on("close", () => open--);
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("no port");
  return {
    url: `redis://127.0.0.1:${bound.port}`,
    sockets: () => open,
    end: () => server.close(),
  };
}
