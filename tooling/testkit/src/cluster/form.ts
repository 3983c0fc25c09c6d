import type { Engine } from "../server/binary.js";
import { freePort } from "../server/port.js";
import { startServer, type TestServer } from "../server/server.js";
import { ask, infoField, until } from "./admin.js";
import { SLOT_COUNT } from "./slot.js";

/** One node and the port its peers reach it at. */
export interface ClusterNode {
  readonly server: TestServer;
  readonly bus: number;
}

const HOST = "127.0.0.1";
const ATTEMPTS = 3;
const DEFAULTS = [
  ...["--cluster-enabled", "yes", "--cluster-announce-ip", HOST],
  // A dead node is noticed soon, and a replica need not wait for others before its first sync.
  ...["--cluster-node-timeout", "2000", "--repl-diskless-sync-delay", "0"],
] as const;

/** Starts one server in cluster mode that knows no other yet. */
export async function startNode(engine: Engine, args: readonly string[]): Promise<ClusterNode> {
  for (let attempt = 1; ; attempt += 1) {
    const bus = await freePort();
    try {
      const own = [...DEFAULTS, "--cluster-port", String(bus), ...args];
      return { server: await startServer({ engine, args: own }), bus };
    } catch (error) {
      // Another process may have taken the bus port since it was looked at.
      if (attempt === ATTEMPTS || !/in use|Failed listening/i.test(String(error))) throw error;
    }
  }
}

/** Makes one cluster of nodes: slots shared evenly by the masters, replicas spread over them. */
export async function formCluster(
  masters: readonly ClusterNode[],
  replicas: readonly ClusterNode[],
): Promise<void> {
  const nodes = [...masters, ...replicas];
  await Promise.all(masters.map((node, index) => own(node, index, masters.length)));
  const [first] = nodes;
  if (first === undefined) return;
  await ask(first.server, async (client) => {
    for (const { server, bus } of nodes.slice(1)) {
      await client.call("CLUSTER", "MEET", HOST, String(server.port), String(bus));
    }
  });
  const servers = nodes.map(({ server }) => server);
  await Promise.all(servers.map((server) => knows(server, servers.length)));
  await Promise.all(replicas.map((node, index) => follow(node, masters[index % masters.length])));
  // A node that does not know a replica as one would not let it take over.
  await Promise.all(servers.map((server) => knows(server, replicas.length, "slave")));
  await Promise.all(servers.map((server) => serving(server)));
}

async function own({ server }: ClusterNode, index: number, count: number): Promise<void> {
  const from = Math.ceil((SLOT_COUNT * index) / count);
  const to = Math.ceil((SLOT_COUNT * (index + 1)) / count) - 1;
  await ask(server, async (client) => {
    await client.call("CLUSTER", "ADDSLOTSRANGE", String(from), String(to));
    // Equal epochs would have to be settled by the nodes first.
    await client.call("CLUSTER", "SET-CONFIG-EPOCH", String(index + 1));
  });
}

async function follow({ server }: ClusterNode, master?: ClusterNode): Promise<void> {
  if (master === undefined) return;
  const id = await nodeId(master.server);
  await ask(server, async (client) => {
    await client.call("CLUSTER", "REPLICATE", id);
    await until(async () => {
      const info = await client.info("replication");
      return infoField(info, "master_link_status") === "up"
        ? undefined
        : "a replica is not in sync";
    });
  });
}

/** Waits until a node knows so many peers of a kind, itself among them. */
function knows(server: TestServer, count: number, kind = ""): Promise<void> {
  return ask(server, (client) =>
    until(async () => {
      const lines = String(await client.call("CLUSTER", "NODES"))
        .trim()
        .split("\n");
      const met = lines.filter((line) => line.includes(kind) && !line.includes("handshake")).length;
      return met === count ? undefined : `${server.url} knows ${met} of ${count} ${kind} nodes`;
    }),
  );
}

/** Waits until a node says that the cluster serves every slot. */
export function serving(server: TestServer): Promise<void> {
  return ask(server, (client) =>
    until(async () => {
      const info = await client.call("CLUSTER", "INFO");
      const state = infoField(info, "cluster_state");
      const assigned = infoField(info, "cluster_slots_assigned");
      const ready = state === "ok" && assigned === String(SLOT_COUNT);
      return ready ? undefined : `${server.url} says ${state} with ${assigned} slots`;
    }),
  );
}

/** The id a node has in its cluster. */
export function nodeId(server: TestServer): Promise<string> {
  return ask(server, async (client) => String(await client.call("CLUSTER", "MYID")));
}
