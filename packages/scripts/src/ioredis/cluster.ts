import type { ClusterNodes } from "../lane/cluster.js";
import { connectFault, offline } from "../lane/connection.js";
import { hostUnknown } from "../lane/lane.js";
import type { NodeAddress } from "../lane/slots.js";
import { translator } from "../lane/translate.js";
import type { RawCluster, RawRedis } from "./client.js";
import { openIoredis } from "./connection.js";

/**
 * Reads a cluster client's nodes and how it connects to one. An idle duplicate makes the node
 * objects, so this works whether the given client is connected or not, and sends nothing itself.
 */
export async function clusterNodes(cluster: RawCluster): Promise<ClusterNodes> {
  const known = cluster.nodes("all");
  const nodes = known.length > 0 ? known : await nodesOf(cluster);
  const [template] = nodes;
  if (template === undefined) throw connectFault(new Error("the cluster client has no nodes"));
  return {
    seeds: nodes.map(({ options }) => ({
      host: options.host ?? "127.0.0.1",
      port: options.port ?? 6379,
    })),
    opener:
      ({ host, port }: NodeAddress) =>
      (request) =>
        openIoredis(template, { host, port, path: undefined, db: 0 }, request),
    translate: translator(cluster.options.natMap),
  };
}

async function nodesOf(cluster: RawCluster): Promise<RawRedis[]> {
  const idle = cluster.duplicate([], {
    lazyConnect: true,
    clusterRetryStrategy: () => null,
    slotsRefreshInterval: undefined,
    shardedSubscribers: false,
    enableOfflineQueue: false,
    scripts: undefined,
    // It asks for the slots before it can be stopped: what it opened for that is gone at once.
    slotsRefreshTimeout: 1,
    redisOptions: { ...cluster.options.redisOptions, disconnectTimeout: 1 },
  });
  const nodes: RawRedis[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      idle.on("error", () => {});
      idle.on("+node", (node) => {
        // All start nodes are made in one go; they must be gone again before they connect.
        if (nodes.push(node) === 1) queueMicrotask(resolve);
      });
      // It looks up all names before it makes a node, and gives up with the first it does not find.
      idle.connect().catch((error: unknown) => {
        const fault = connectFault(error);
        reject(hostUnknown(fault) ? offline(fault) : fault);
      });
    });
  } finally {
    idle.disconnect();
  }
  return nodes;
}
