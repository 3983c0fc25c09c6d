import { freePort, startServer, type TestServer } from "@echomq/testkit";
import type { Maker } from "./makers.js";

/** Three masters that share the slots. */
export interface TestCluster {
  readonly urls: readonly string[];
  readonly nodes: readonly TestServer[];
  stop(): Promise<void>;
}

const SLOTS = 16_384;

/** Starts a cluster of three masters and waits until it serves every slot. */
export async function startCluster(maker: Maker): Promise<TestCluster> {
  const started = await Promise.all([0, 1, 2].map(startNode));
  const nodes = started.map(({ server }) => server);
  const lanes = await Promise.all(nodes.map((node) => maker.open(node.url)));
  const [first] = started;
  if (first === undefined) throw new Error("no node");
  await Promise.all(
    lanes.map(async (lane, i) => {
      const [from, to] = [Math.ceil((SLOTS * i) / 3), Math.ceil((SLOTS * (i + 1)) / 3) - 1];
      await lane.command(["CLUSTER", "ADDSLOTSRANGE", String(from), String(to)]);
      await lane.command(["CLUSTER", "SET-CONFIG-EPOCH", String(i + 1)]);
    }),
  );
  for (const lane of lanes.slice(1)) {
    const [port, bus] = [String(first.server.port), String(first.bus)];
    await lane.command(["CLUSTER", "MEET", "127.0.0.1", port, bus]);
  }
  for (const lane of lanes) {
    for (;;) {
      const info = String(await lane.command(["CLUSTER", "INFO"]));
      if (info.includes("cluster_state:ok") && info.includes("cluster_known_nodes:3")) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  await Promise.all(lanes.map((lane) => lane.close()));
  return {
    urls: nodes.map(({ url }) => url),
    nodes,
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

async function startNode(): Promise<{ server: TestServer; bus: number }> {
  const bus = await freePort();
  const server = await startServer({
    args: [
      ...["--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1"],
      ...["--cluster-node-timeout", "2000", "--cluster-port", String(bus)],
    ],
  });
  return { server, bus };
}
