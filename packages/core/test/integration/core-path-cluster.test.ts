import { startCluster, type TestCluster } from "@echomq/testkit";
import { afterAll, beforeAll, describe } from "vitest";
import { Bench, type DriverName, ENGINES } from "../support/bench.js";
import { clusterDriver } from "../support/cluster.js";
import { corePath } from "../support/core-path.js";
import { PATH } from "../support/path/path.js";
import { type Opened, runPath } from "../support/path/run.js";

const DRIVERS: readonly DriverName[] = ["ioredis", "node-redis"];

describe.each(ENGINES)("%s cluster", (engine) => {
  let cluster: TestCluster;
  let turn = 0;

  beforeAll(async () => {
    cluster = await startCluster({ engine });
  });

  afterAll(() => cluster?.stop());

  /** Queues lie on the nodes in turn. */
  async function open(driver: DriverName): Promise<Required<Opened>> {
    const node = cluster.nodes[turn++ % cluster.nodes.length];
    if (node === undefined) throw new Error("the cluster has no nodes");
    const name = await cluster.queueOn(node);
    return { url: node.url, name, driver: await clusterDriver(cluster.urls, driver) };
  }

  describe.each(DRIVERS)("%s", (driver) => {
    corePath("behaviour", async () => {
      const { url, driver: made, name } = await open(driver);
      return Bench.on(url, made, name);
    });

    describe("scripts and refusals", () => {
      runPath(PATH, () => open(driver));
    });
  });
});
