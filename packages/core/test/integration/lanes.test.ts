import { describe, expect, test } from "vitest";
import { Bench, type DriverName, makeDriver } from "../support/bench.js";
import { killLanes } from "../support/connections.js";
import { until } from "../support/until.js";

const DRIVERS: readonly DriverName[] = ["ioredis", "node-redis"];

describe.each(DRIVERS)("connections killed while working, %s", (driver) => {
  test.each(["main", "lease", "blocking"])(
    "%s: nothing lost, nothing doubled without a lost reply",
    async (role) => {
      const own = await Bench.own();
      const bench = Bench.on(own.url, await makeDriver(own.url, driver));
      const queue = bench.queue({ defaultJobOptions: { removeOnComplete: false } });
      const total = 600;
      const jobs = await queue.addBulk(
        Array.from({ length: total }, (_, n) => ({ name: "x", data: n })),
      );
      const ran = new Map<string, number>();
      const told = new Map<string, number>();
      const worker = bench.worker(
        async (job) => {
          ran.set(job.id, (ran.get(job.id) ?? 0) + 1);
          await new Promise((resolve) => setTimeout(resolve, 2));
          return job.data;
        },
        { concurrency: 12, lockDuration: 1_000, stalledInterval: 300, maxStalledCount: 100 },
      );
      worker.on("completed", (job) => told.set(job.id, (told.get(job.id) ?? 0) + 1));
      let killed = 0;
      let mark = 0;
      while ((await bench.completed()) < total) {
        await until("progress", async () => (await bench.completed()) >= Math.min(mark, total));
        mark += 120;
        killed += await killLanes(own.client, role);
      }
      expect(killed).toBeGreaterThan(0);
      expect(new Set(await bench.client.zrange(bench.key("completed"), 0, -1)).size).toBe(total);
      expect(ran.size).toBe(total);
      for (const { id } of jobs) expect(told.get(id) ?? 1).toBe(1);
      await until("no lease is left", async () => (await queue.getJobCounts()).active === 0);
      await queue.add("after", {});
      await until("it goes on", async () => (await bench.completed()) === total + 1);
      await worker.close();
      expect(await bench.client.hlen(bench.key("owners"))).toBe(0);
    },
  );

  test("claims whose reply was lost come back without their lease ending", async () => {
    const own = await Bench.own();
    const bench = Bench.on(own.url, await makeDriver(own.url, driver));
    const queue = bench.queue({ defaultJobOptions: { removeOnComplete: false } });
    // Leases outlast the test: only giving back can bring a lost claim home.
    const worker = bench.worker(() => undefined, {
      concurrency: 5,
      lockDuration: 3_600_000,
      stalledInterval: 3_600_000,
    });
    await worker.waitUntilReady();
    const total = 200;
    await queue.addBulk(Array.from({ length: total }, (_, n) => ({ name: "x", data: n })));
    for (let round = 0; round < 20; round += 1) await killLanes(own.client, "lease");
    await until("all are done", async () => (await bench.completed()) === total);
    expect(await queue.getJobCounts()).toMatchObject({ active: 0, waiting: 0, failed: 0 });
  });

  test("an idle worker whose blocking read was killed hears of new jobs", async () => {
    const own = await Bench.own();
    const bench = Bench.on(own.url, await makeDriver(own.url, driver));
    const queue = bench.queue();
    const worker = bench.worker(() => undefined);
    await worker.waitUntilReady();
    for (let round = 1; round <= 3; round += 1) {
      await until("it waits", () => killLanes(own.client, "blocking"));
      await queue.add("x", {});
      await until("the job is done", async () => (await bench.completed()) === round);
    }
  });
});
