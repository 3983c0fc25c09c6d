import { Queue, Worker } from "@echomq/core";
import { type Engine, startCluster } from "@echomq/testkit";
import { Cluster } from "ioredis";
import { createCluster } from "redis";
import { describe, expect, onTestFinished, test } from "vitest";
import { DRIVERS } from "../../src/connect/drivers.js";
import { aclLine, adminOf, paste, refusedTo } from "../support/acl-user.js";

const ENGINES: readonly Engine[] = ["redis", "valkey"];

describe.each(ENGINES)("a %s cluster", (engine) => {
  test("carries queue and worker under the printed users through both clients", async () => {
    const cluster = await startCluster({ engine });
    onTestFinished(() => cluster.stop());
    const [node] = cluster.nodes;
    if (node === undefined) throw new Error("the cluster has no nodes");
    for (const name of DRIVERS) {
      const q = await cluster.queueOn(node);
      const user = async (role: string) => {
        const argv = ["--queue", q, "--role", role, "--v1-prefix", "bull", "--cluster"];
        // Redis 7.0 does not know what 7.2 is asked when a client connects.
        if (engine === "valkey") argv.push("--server", "7.2");
        const line = await aclLine(...argv);
        for (const url of cluster.urls) await paste(url, line);
        const who = { username: line.split(" ")[2] ?? "", password: "secret" };
        const addresses = cluster.urls.map((url) => new URL(url));
        const client =
          name === "ioredis"
            ? new Cluster(
                addresses.map(({ hostname, port }) => ({ host: hostname, port: Number(port) })),
                { lazyConnect: true, redisOptions: who },
              )
            : createCluster({ rootNodes: cluster.urls.map((url) => ({ url })), defaults: who });
        return {
          name: who.username,
          options: { connection: client as never, v1Prefixes: ["bull"] },
        };
      };
      const producer = await user("producer");
      const queue = new Queue(q, producer.options);
      await queue.addBulk([
        { name: "x", data: {} },
        { name: "x", data: {}, opts: { delay: 50 } },
      ]);
      const boss = await user("worker");
      const worker = new Worker(q, () => "done", boss.options);
      let ended = 0;
      await new Promise((resolve, reject) => {
        worker.on("completed", () => {
          ended += 1;
          if (ended === 2) resolve(null);
        });
        worker.on("error", reject);
      });
      await worker.close();
      await queue.close();
      for (const url of cluster.urls) {
        const admin = adminOf(url);
        expect(await refusedTo(admin, producer.name)).toEqual([]);
        expect(await refusedTo(admin, boss.name)).toEqual([]);
      }
    }
  });
});
