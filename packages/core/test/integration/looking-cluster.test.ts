import { startCluster, type TestCluster } from "@echomq/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bench, type DriverName, ENGINES, plainClient } from "../support/bench.js";
import { clusterClient } from "../support/cluster.js";
import { until } from "../support/until.js";

const DRIVERS: readonly DriverName[] = ["ioredis", "node-redis"];

describe.each(ENGINES)("looking at queues of a %s cluster", (engine) => {
  let cluster: TestCluster;

  beforeAll(async () => {
    cluster = await startCluster({ engine });
  });

  afterAll(() => cluster?.stop());

  test.each(DRIVERS)(
    "events, waits, workers and the doctor on every node over %s",
    async (driver) => {
      const bench = Bench.on(cluster.urls[0] ?? "", clusterClient(cluster.urls, driver));
      for (const node of cluster.nodes) {
        const name = await cluster.queueOn(node);
        const queue = bench.queue({}, name);
        const events = bench.events<{ shipped: { n: number } }>({}, name);
        const told: string[] = [];
        events.on("completed", ({ jobId }) => told.push(`completed ${jobId}`));
        events.on("shipped", ({ n }) => told.push(`shipped ${n}`));
        await events.waitUntilReady();
        const worker = bench.worker(
          ({ data }) => data,
          { metrics: { maxDataPoints: 5 }, name: "one" },
          name,
        );
        await worker.waitUntilReady();
        const opts = { jobId: "a" };
        expect(await queue.addAndWait("x", 5, opts, { events, timeout: 20_000 })).toBe(5);
        await bench.producer<{ shipped: { n: number } }>(name).publishEvent({
          eventName: "shipped",
          n: 1,
        });
        await until("both are told", () => told.length === 2);
        expect(told).toEqual(["completed a", "shipped 1"]);
        expect((await queue.getCompleted()).map(({ id }) => id)).toEqual(["a"]);
        await until("it is listed", async () => (await queue.getWorkersCount()) === 1);
        expect(await queue.getWorkers()).toMatchObject([{ name: "one", pid: process.pid }]);
        await worker.close();
        expect((await queue.getMetrics("completed")).meta.count).toBe(1);
        expect(await queue.doctor()).toMatchObject({ ok: true, findings: [], looked: 2 });
        await queue.add("x", {}, { jobId: "b" });
        await plainClient(node.url).del(`emq:{${name}}:v2:job:b`);
        const report = await queue.doctor({ fix: true });
        expect(report.findings).toMatchObject([{ kind: "missing-hash", id: "b", fixed: true }]);
        expect(await queue.count()).toBe(0);
        await queue.close();
        await events.close();
      }
    },
  );
});
