import { Queue } from "@echomq/core";
import { type GuardClient, guardV1Queue } from "@echomq/migrate/v1-guard";
import type { RedisDriver } from "@echomq/scripts";
import { ioredisDriver } from "@echomq/scripts/ioredis";
import { nodeRedisDriver } from "@echomq/scripts/node-redis";
import { dumpAll, type Engine, startCluster, type TestCluster, uniqueQueue } from "@echomq/testkit";
import { stampKey } from "@echomq/wire";
import { Cluster } from "ioredis";
import { createCluster } from "redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LINES, type Line, MAKERS } from "../../src/lines.js";
import { V1Client } from "../../src/v1-client.js";
import {
  admin,
  contacts,
  DRIVERS,
  type DriverName,
  thrownBy,
  verdict,
} from "../support/clients.js";

const ENGINES: readonly Engine[] = ["redis", "valkey"];
/** On a cluster v1 needs a tag, in the name or in the prefix. */
const PLACES = [
  { prefix: "bull", braced: true },
  { prefix: "{bull}", braced: false },
  { prefix: "emq", braced: true },
] as const;
/** A sample: the oldest line, and the two in use; all five with `ECHOMQ_FENCE_MATRIX=full`. */
const SAMPLE: readonly Line[] = LINES.filter(
  ({ version }) => process.env.ECHOMQ_FENCE_MATRIX === "full" || /^(3|5\.65|6)/.test(version),
);

describe.each(ENGINES)("three nodes of %s", (engine) => {
  let cluster: TestCluster;
  const cells: { q: string; prefix: string; queue: string; key: string }[] = [];

  beforeAll(async () => {
    cluster = await startCluster({ engine });
    const port = cluster.nodes[0]?.port ?? 0;
    for (const line of SAMPLE) {
      await using client = await V1Client.start(line, port);
      for (const by of MAKERS) {
        for (const { prefix, braced } of PLACES) {
          const q = uniqueQueue(by);
          const queue = braced ? `{${q}}` : q;
          await client.make(by, { prefix, queue, cluster: true });
          cells.push({ q, prefix, queue, key: `${prefix}:${queue}:` });
        }
      }
    }
    // A stalled check ends after half a minute; the test may take longer on a slow machine.
    for (const url of cluster.urls) {
      const node = admin(url);
      for (const key of await node.keys("*:stalled-check")) await node.persist(key);
      node.disconnect();
    }
  });

  afterAll(() => cluster.stop());

  async function keys(): Promise<unknown> {
    return Promise.all(cluster.urls.map((url) => dumpAll(url)));
  }

  test.each(DRIVERS)("every v2 contact with a v1 queue is refused through %s", async (name) => {
    const driver = await openCluster(name, cluster);
    const before = await keys();
    for (const { q, key } of cells) {
      for (const error of Object.values(await contacts(q, driver))) {
        expect(verdict(error)).toMatch(/^V1_KEYSPACE /);
        expect(error.probe.startsWith(key)).toBe(true);
      }
    }
    expect(await keys()).toEqual(before);
    await using queue = new Queue(uniqueQueue(), { connection: driver });
    await queue.add("first", {});
    const owner = await cluster.slotOwner(stampKey(queue.name));
    expect((await dumpAll(owner.url, stampKey(queue.name).replace(/[{}]/g, "?"))).size).toBe(1);
    await queue.close();
    await driver.close();
  });

  test.each(DRIVERS)("the guard decides with a cluster client of %s", async (name) => {
    const own = await clusterClient(name, cluster);
    for (const { prefix, queue } of cells) await guardV1Queue(own.client, { prefix, queue });
    const driver = await openCluster(name, cluster);
    await using v2 = new Queue(uniqueQueue(), { connection: driver });
    await v2.add("first", {});
    const before = await keys();
    for (const { prefix, braced } of PLACES) {
      const queue = braced ? `{${v2.name}}` : v2.name;
      const error = await thrownBy(() => guardV1Queue(own.client, { prefix, queue }));
      expect(verdict(error)).toBe(`V2_KEYSPACE echomq:2.0.0 at ${stampKey(v2.name)}`);
    }
    expect(await keys()).toEqual(before);
    await v2.close();
    await driver.close();
    own.close();
  });
});

interface OpenClient {
  readonly client: GuardClient;
  close(): void;
}

async function clusterClient(name: DriverName, { urls }: TestCluster): Promise<OpenClient> {
  if (name === "ioredis") {
    const client = new Cluster([...urls]);
    return { client: client as unknown as GuardClient, close: () => client.disconnect() };
  }
  const client = createCluster({ rootNodes: urls.map((url) => ({ url })) });
  await client.connect();
  return { client: client as unknown as GuardClient, close: () => client.destroy() };
}

function openCluster(name: DriverName, { urls }: TestCluster): Promise<RedisDriver> {
  if (name === "ioredis") {
    return ioredisDriver(new Cluster([...urls], { lazyConnect: true }));
  }
  return nodeRedisDriver(createCluster({ rootNodes: urls.map((url) => ({ url })) }) as never);
}
