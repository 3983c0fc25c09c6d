import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "../lane/backoff.js";
import type { ClusterNodes } from "../lane/cluster.js";
import { closed, connectFault, offline } from "../lane/connection.js";
import { credentialsRefused, hostUnknown, unreachable } from "../lane/lane.js";
import type { NodeAddress } from "../lane/slots.js";
import { translator } from "../lane/translate.js";
import type { RawClient, RawCluster, RawNode, RawOptions } from "./client.js";
import { openNodeRedis } from "./connection.js";

interface Found {
  readonly client: RawClient;
  readonly masters: readonly RawNode[];
}

/**
 * Reads a cluster client's nodes and how it connects to one. A client that is not connected has
 * none yet, so a short-lived duplicate finds them.
 * @throws DriverFault `offline` with the cause when no node answers within `connectTimeoutMs` or no name
 * of one means anything, `reply` when the credentials are refused, `closed` when `signal` is aborted.
 */
export async function clusterNodes(
  cluster: RawCluster,
  connectTimeoutMs: number,
  signal?: AbortSignal,
): Promise<ClusterNodes> {
  const found = connected(cluster) ?? (await discover(cluster, connectTimeoutMs, signal));
  const { client, masters } = found;
  return {
    seeds: masters.map(({ host, port }) => ({ host, port })),
    opener:
      ({ host, port }: NodeAddress) =>
      (request) =>
        openNodeRedis(client, { host, port }, request),
    translate: translator(cluster._options?.nodeAddressMap),
  };
}

function connected({ masters }: RawCluster): Found | undefined {
  for (const { client } of masters) {
    if (client !== undefined && "isReady" in client) return { client, masters };
  }
  return undefined;
}

async function discover(
  cluster: RawCluster,
  connectTimeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Found> {
  const deadline = Date.now() + connectTimeoutMs;
  for (let failures = 0; ; failures++) {
    if (signal?.aborted) throw closed();
    try {
      return await probe(cluster, Math.max(1, deadline - Date.now()), signal);
    } catch (error) {
      const fault = connectFault(error);
      if (credentialsRefused(fault)) throw fault;
      if (hostUnknown(fault) && !signal?.aborted) throw offline(fault);
      const wait = backoffMs(failures);
      if (Date.now() + wait >= deadline) throw unreachable(fault, connectTimeoutMs);
      await sleep(wait, undefined, signal ? { signal } : {}).catch(() => undefined);
    }
  }
}

async function probe(
  cluster: RawCluster,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Found> {
  const given = cluster._options;
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  signal?.addEventListener("abort", abort, { once: true });
  const idle = cluster.duplicate({
    RESP: 2,
    minimizeConnections: true,
    useReplicas: false,
    clientSideCache: undefined,
    // Copies: the client writes into the options of its root nodes.
    rootNodes: given?.rootNodes?.map((node) => ({ ...node, socket: { ...node.socket } })),
    defaults: {
      ...given?.defaults,
      maintNotifications: "disabled",
      clientSideCache: undefined,
      socket: {
        ...given?.defaults?.socket,
        connectTimeout: timeoutMs,
        reconnectStrategy: false,
        signal: stop.signal,
      },
    } satisfies RawOptions & Record<string, unknown>,
  });
  let last: Error | undefined;
  idle.on("error", (error) => {
    // Of several nodes the one that may answer later tells more than a name that means nothing.
    if (last === undefined || hostUnknown(last)) last = error;
  });
  const timer = setTimeout(() => stop.abort(), timeoutMs);
  try {
    await idle.connect();
    const masters = [...idle.masters];
    const [first] = masters;
    if (first === undefined) throw new Error("the cluster has no masters");
    return { client: await idle.nodeClient(first), masters };
  } catch (error) {
    throw last ?? error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    try {
      idle.destroy();
    } catch {
      // A node that never connected throws; the signal ends what is left.
    }
    stop.abort();
  }
}
