import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { Cluster, Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Engine, slotOf, startCluster, type TestCluster } from "../../src/index.js";
import { isAlive } from "../support/alive.js";

const engines: Engine[] = ["redis", "valkey"];

describe.each(engines)("a %s cluster", (engine) => {
  let cluster: TestCluster;

  beforeAll(async () => {
    cluster = await startCluster({ engine });
  });

  afterAll(() => cluster?.stop());

  function nodeOf(index: number): TestCluster["nodes"][number] {
    const node = cluster.nodes[index];
    if (node === undefined) throw new Error("the cluster has three nodes");
    return node;
  }

  test("serves every slot on three nodes of the engine, which ports of a cluster allow", async () => {
    const client = new Cluster([{ host: "127.0.0.1", port: nodeOf(0).port }]);
    const keys = Array.from({ length: 300 }, (_, n) => `k${n}`);
    expect(new Set(await Promise.all(keys.map((key) => client.incr(key))))).toEqual(new Set([1]));
    const owners = await Promise.all(keys.slice(0, 30).map((key) => cluster.slotOwner(key)));
    expect(new Set(owners).size).toBe(3);
    for (const node of cluster.nodes) expect(node.port).toBeLessThan(55_536);
    await Promise.all(keys.map((key) => client.del(key)));
    client.disconnect();
    const one = new Redis(nodeOf(0).url);
    expect((await one.info("server")).includes("valkey_version")).toBe(engine === "valkey");
    for (const key of keys.slice(0, 30)) {
      expect(slotOf(key)).toBe(await one.cluster("KEYSLOT", key));
    }
    one.disconnect();
  });

  test("a moved slot answers from the new node, and no other does", async () => {
    const [source, target] = [nodeOf(0), nodeOf(2)];
    const queue = await cluster.queueOn(source);
    const [from, to] = [new Redis(source.url), new Redis(target.url)];
    onTestFinished(() => {
      from.disconnect();
      to.disconnect();
    });
    const keys = Array.from({ length: 25 }, (_, n) => `emq:{${queue}}:${n}`);
    for (const key of keys) await from.set(key, key);
    const open: number[] = [];
    await cluster.moveSlot(queue, target, {
      batch: 10,
      during: async (moved) => {
        open.push(moved);
        if (moved === 10) await expect(from.mget(keys)).rejects.toThrow(/^TRYAGAIN /);
      },
    });
    expect(open).toEqual([0, 10, 20, 25]);
    expect(await cluster.slotOwner(queue)).toBe(target);
    expect(await to.mget(keys)).toEqual(keys);
    const moved = new RegExp(`^MOVED ${slotOf(queue)} 127.0.0.1:${target.port}$`);
    await expect(from.get(keys[0] ?? "")).rejects.toThrow(moved);
  });

  test("a queue name can be had for each node", async () => {
    for (const node of cluster.nodes) {
      const queue = await cluster.queueOn(node, "mail");
      expect(queue).toMatch(/^mail-/);
      expect(await cluster.slotOwner(`emq:{${queue}}:v2:wait`)).toBe(node);
    }
  });

  test("a node that is killed comes back into its cluster", async () => {
    const node = nodeOf(1);
    await node.kill();
    await node.restart();
    await cluster.ready();
    const queue = await cluster.queueOn(node);
    const client = new Redis(node.url);
    expect(await client.set(queue, "1")).toBe("OK");
    client.disconnect();
  });

  test("stop ends every process and removes every folder", async () => {
    const own = await startCluster({ engine, nodes: 1, replicas: 1, args: ["--maxmemory", "8mb"] });
    const servers = [...own.nodes, ...own.replicas];
    expect(servers).toHaveLength(2);
    for (const server of servers) expect(isAlive(server.pid)).toBe(true);
    const client = new Redis(own.urls[0] ?? "");
    expect(await client.config("GET", "maxmemory")).toEqual(["maxmemory", "8388608"]);
    client.disconnect();
    await own.stop();
    await own.stop();
    for (const server of servers) {
      expect(isAlive(server.pid)).toBe(false);
      expect(existsSync(server.config.dir)).toBe(false);
    }
  });
});

test("a replica takes over its master's slots and data", async () => {
  await using cluster = await startCluster({ replicas: 1 });
  const [replica] = cluster.replicas;
  const [master] = cluster.nodes;
  if (replica === undefined || master === undefined) throw new Error("a node is missing");
  const queue = await cluster.queueOn(master);
  const client = new Redis(master.url);
  await client.set(queue, "kept");
  await client.call("WAIT", "1", "0");
  client.disconnect();
  await cluster.failover(replica);
  expect(await cluster.slotOwner(queue)).toBe(replica);
  const next = new Redis(replica.url);
  expect(await next.get(queue)).toBe("kept");
  next.disconnect();
});

test("a server that does not start takes the whole cluster down", async () => {
  await expect(startCluster({ args: ["--no-such-option", "1"] })).rejects.toThrow(/did not start/);
});

test("a killed test process takes its cluster along", async () => {
  const program = `
    import { startCluster } from "@echomq/testkit";
    const { nodes } = await startCluster();
    console.log(JSON.stringify(nodes.map(({ pid, config }) => ({ pid, dir: config.dir }))));
    setInterval(() => undefined, 1000);
  `;
  const flags = ["--conditions=@echomq/source", "--import", "tsx", "--input-type=module"];
  const child = spawn(process.execPath, [...flags, "-e", program], {
    cwd: new URL("../../../../apps/demo", import.meta.url),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface(child.stdout), "line");
  const nodes = JSON.parse(String(line)) as { pid: number; dir: string }[];
  expect(nodes.map(({ pid }) => isAlive(pid))).toEqual([true, true, true]);
  child.kill("SIGKILL");
  const gone = (): boolean => nodes.every(({ pid, dir }) => !isAlive(pid) && !existsSync(dir));
  await expect.poll(gone, { timeout: 20_000 }).toBe(true);
});
