import { uniqueQueue } from "../isolation.js";
import type { Engine } from "../server/binary.js";
import type { TestServer } from "../server/server.js";
import { ask } from "./admin.js";
import { failover } from "./failover.js";
import { type ClusterNode, formCluster, serving, startNode } from "./form.js";
import { type MoveOptions, moveSlot, ownerPort } from "./move.js";
import { slotOf } from "./slot.js";

/** What a cluster is started with. */
export interface ClusterOptions {
  /** Default `redis`. */
  readonly engine?: Engine;
  /** Masters. Default 3. */
  readonly nodes?: number;
  /** Replicas of each master. Default 0. */
  readonly replicas?: number;
  /** More arguments for every server. */
  readonly args?: readonly string[];
}

/** A real cluster that belongs to one test. */
export interface TestCluster {
  readonly engine: Engine;
  /** The servers that were started as masters, in the order of their slots. */
  readonly nodes: readonly TestServer[];
  readonly replicas: readonly TestServer[];
  /** Addresses of `nodes`. */
  readonly urls: readonly string[];
  /** The server that serves a key now, asked of the cluster. */
  slotOwner(key: string): Promise<TestServer>;
  /** A queue name no other test uses, whose keys lie on the given node now. */
  queueOn(node: TestServer, prefix?: string): Promise<string>;
  /** Moves a slot with its keys to a node, as an operator does; a key stands for its slot. */
  moveSlot(slot: number | string, to: TestServer, options?: MoveOptions): Promise<void>;
  /** Lets a replica take over from its master, which runs on as its replica. */
  failover(replica: TestServer): Promise<void>;
  /** Waits until every node that runs says that the cluster serves every slot. */
  ready(): Promise<void>;
  /** Ends every node and removes their folders. Calling it twice does nothing more. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a real cluster on free ports of 127.0.0.1 that serves every slot, ended by its handle and, at
 * the latest, with the process that started it.
 * @throws Error with one sentence where the engine is not installed or the cluster does not form.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<TestCluster> {
  const { engine = "redis", nodes: count = 3, replicas = 0, args = [] } = options;
  const starts = Array.from({ length: count * (1 + replicas) }, () => startNode(engine, args));
  const settled = await Promise.allSettled(starts);
  const started = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  try {
    for (const one of settled) if (one.status === "rejected") throw one.reason;
    await formCluster(started.slice(0, count), started.slice(count));
  } catch (error) {
    await stopAll(started);
    throw error;
  }
  return handle(engine, started, count);
}

async function stopAll(nodes: readonly ClusterNode[]): Promise<void> {
  await Promise.all(nodes.map(({ server }) => server.stop()));
}

function runs({ pid }: TestServer): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's process exists all the same.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function handle(engine: Engine, started: readonly ClusterNode[], count: number): TestCluster {
  const servers = started.map(({ server }) => server);
  const nodes = servers.slice(0, count);
  const ownerOf = async (slot: number): Promise<TestServer> => {
    const [any] = servers.filter(runs);
    if (any === undefined) throw new Error("no node of the cluster runs");
    const port = await ask(any, (client) => ownerPort(client, slot));
    const owner = servers.find((server) => server.port === port);
    if (owner === undefined) throw new Error(`no node serves slot ${slot}`);
    return owner;
  };
  const stop = (): Promise<void> => stopAll(started);
  return {
    engine,
    nodes,
    replicas: servers.slice(count),
    urls: nodes.map(({ url }) => url),
    slotOwner: (key) => ownerOf(slotOf(key)),
    queueOn: async (node, prefix) => {
      for (;;) {
        const name = uniqueQueue(prefix);
        if ((await ownerOf(slotOf(name))) === node) return name;
      }
    },
    moveSlot: async (place, to, how) => {
      const slot = typeof place === "number" ? place : slotOf(place);
      const members = servers.filter(runs);
      await moveSlot(members, slot, await ownerOf(slot), to, how);
    },
    failover: (replica) => failover(servers.filter(runs), replica),
    ready: async () => {
      await Promise.all(servers.filter(runs).map(serving));
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
