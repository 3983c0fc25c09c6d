import { FlakyPlan, flakyDriver, startCluster, type TestCluster } from "@echomq/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Queue } from "../../src/index.js";
import { Bench, type DriverName, ENGINES } from "../support/bench.js";
import { clusterClient, clusterDriver } from "../support/cluster.js";
import { settles, until } from "../support/until.js";

const DRIVERS: readonly DriverName[] = ["ioredis", "node-redis"];
const KEEP = { removeOnComplete: false, removeOnFail: false } as const;

type Nodes = readonly [
  TestCluster["nodes"][number],
  TestCluster["nodes"][number],
  TestCluster["nodes"][number],
];

const nodesOf = (cluster: TestCluster): Nodes => cluster.nodes as unknown as Nodes;

const completed = async (queue: Queue): Promise<number> => (await queue.getJobCounts()).completed;

describe.each(ENGINES)("a %s cluster", (engine) => {
  let cluster: TestCluster;

  beforeAll(async () => {
    cluster = await startCluster({ engine });
  });

  afterAll(() => cluster?.stop());

  describe.each(DRIVERS)("queue and worker over %s", (driver) => {
    let bench: Bench;

    beforeEach(() => {
      bench = Bench.on(cluster.urls[0] ?? "", clusterClient(cluster.urls, driver));
    });

    test("add, retry, delay, priority and failure on three nodes at once", async () => {
      const names = await Promise.all(cluster.nodes.map((node) => cluster.queueOn(node)));
      const order = new Map<string, string[]>(names.map((name) => [name, []]));
      const queues = names.map((name) => bench.queue({ defaultJobOptions: KEEP }, name));
      for (const queue of queues) {
        await queue.addBulk(Array.from({ length: 40 }, (_, n) => ({ name: "plain", data: { n } })));
        await queue.add("again", {}, { jobId: "again", attempts: 3, backoff: 30 });
        await queue.add("bad", {}, { jobId: "bad" });
        await queue.add("later", {}, { jobId: "later", delay: 300 });
        await queue.add("last", {}, { jobId: "last", priority: 9 });
        await queue.add("first", {}, { jobId: "first", priority: 1 });
        expect(await queue.getJobCounts()).toMatchObject({
          waiting: 42,
          prioritized: 2,
          delayed: 1,
        });
      }
      const workers = names.map((name) =>
        bench.worker(
          async (job) => {
            order.get(name)?.push(job.id);
            if (job.name === "bad") throw new Error("broken");
            if (job.name === "again" && job.attemptsMade < 2) throw new Error("not yet");
            return { was: job.name };
          },
          { concurrency: 1 },
          name,
        ),
      );
      for (const queue of queues) {
        await until("all but one completed", async () => (await completed(queue)) === 44);
        expect(await queue.getJobCounts()).toEqual({
          waiting: 0,
          prioritized: 0,
          delayed: 0,
          active: 0,
          completed: 44,
          failed: 1,
          "waiting-children": 0,
          held: 0,
        });
        expect(await queue.getJob("again")).toMatchObject({
          attemptsMade: 3,
          returnvalue: { was: "again" },
        });
        expect(await queue.getJob("bad")).toMatchObject({ failedReason: "broken" });
        const later = await queue.getJob("later");
        expect(later?.processedOn).toBeGreaterThanOrEqual((later?.timestamp ?? 0) + 300);
        const ran = order.get(queue.name) ?? [];
        expect(ran).toHaveLength(47);
        expect(ran.indexOf("first")).toBeLessThan(ran.indexOf("last"));
      }
      await settles("close", Promise.all(workers.map((worker) => worker.close())));
    });

    test("work of a worker that is cut off is recovered on each node", async () => {
      const plan = new FlakyPlan();
      const doomed = Bench.on(
        bench.url,
        flakyDriver(await clusterDriver(cluster.urls, driver), plan),
      );
      const names = await Promise.all(cluster.nodes.map((node) => cluster.queueOn(node)));
      const queues = names.map((name) => bench.queue({ defaultJobOptions: KEEP }, name));
      for (const queue of queues) await queue.add("x", {}, { jobId: "held" });
      const lost: string[] = [];
      const stuck = names.map((name) => {
        const hang = (): Promise<void> => new Promise(() => {});
        const worker = doomed.worker(
          hang,
          { lockDuration: 2_000, stalledInterval: 3_600_000 },
          name,
        );
        return worker.on("lost", (job) => lost.push(`${name} ${job.id}`));
      });
      await until("each holds its job", () => stuck.every((worker) => worker.active === 1));
      plan.on(() => true, { kind: "offline" }, { times: Number.POSITIVE_INFINITY });
      const workers = names.map((name) =>
        bench.worker(
          () => "saved",
          { lockDuration: 400, stalledInterval: 100, maxStalledCount: 3 },
          name,
        ),
      );
      for (const queue of queues) {
        await until("it was run elsewhere", async () => (await completed(queue)) === 1);
        expect(await queue.getJob("held")).toMatchObject({
          returnvalue: "saved",
          stalledCounter: 1,
        });
      }
      await until("the old owners know", () => lost.length === 3);
      expect(lost.sort()).toEqual(names.map((name) => `${name} held`).sort());
      await settles("close", Promise.all([...stuck, ...workers].map((one) => one.close())));
    });

    test("a slot moves there and back while adds and jobs go on", async () => {
      const [home, away, third] = nodesOf(cluster);
      const name = await cluster.queueOn(home);
      const queue = bench.queue({ defaultJobOptions: KEEP }, name);
      const ran: string[] = [];
      const worker = bench.worker(
        async (job) => {
          ran.push(job.id);
          await new Promise((resolve) => setTimeout(resolve, 1));
        },
        { concurrency: 5 },
        name,
      );
      const troubles: string[] = [];
      worker.on("error", (error) => troubles.push(String(error)));
      await worker.waitUntilReady();
      const adds: Promise<{ readonly id: string }>[] = [];
      const produce = (): void => {
        for (let n = 0; n < 20; n += 1) adds.push(queue.add("x", { n }));
      };
      produce();
      for (const node of [away, third, home]) {
        await cluster.moveSlot(name, node, { batch: 10, during: produce });
        produce();
      }
      const ids = (await Promise.all(adds)).map(({ id }) => id);
      await until("all are done", async () => (await completed(queue)) === ids.length);
      expect(new Set(ran)).toEqual(new Set(ids));
      // Whatever the move refused had not run, so nothing runs twice.
      expect(ran).toHaveLength(ids.length);
      expect(await queue.getJobCounts()).toMatchObject({ waiting: 0, active: 0, failed: 0 });
      // The waiting read lies in the slot as well; it must have followed.
      await cluster.moveSlot(name, away);
      const next = await queue.add("x", {});
      await until("an idle worker was woken", () => ran.includes(next.id));
      await settles("close", worker.close());
      expect(troubles).toEqual([]);
    });
  });

  // These cost a cluster each: one client on each engine.
  const [driver] = DRIVERS.filter((_, at) => at === ENGINES.indexOf(engine)) as [DriverName];

  test(`${driver}: a node that is killed and comes back loses no job`, async () => {
    await using own = await startCluster({
      engine,
      args: ["--appendonly", "yes", "--appendfsync", "always"],
    });
    const [dying, living] = nodesOf(own);
    const bench = Bench.on(living.url, clusterClient(own.urls, driver));
    const names = [await own.queueOn(dying), await own.queueOn(living)];
    const ran = new Set<string>();
    const queues = names.map((name) => bench.queue({ defaultJobOptions: KEEP }, name));
    const total = 200;
    for (const queue of queues) {
      await queue.addBulk(Array.from({ length: total }, (_, n) => ({ name: "x", data: n })));
    }
    const workers = names.map((name) =>
      bench.worker(
        async (job) => {
          await new Promise((resolve) => setTimeout(resolve, 2));
          ran.add(`${name} ${job.id}`);
        },
        { concurrency: 4, lockDuration: 1_000, stalledInterval: 300, maxStalledCount: 100 },
        name,
      ),
    );
    await until("work has begun", () => ran.size > 20);
    await dying.kill();
    await dying.restart();
    await own.ready();
    for (const queue of queues) {
      await until("all are done", async () => (await completed(queue)) === total);
      expect(await queue.getJobCounts()).toMatchObject({ waiting: 0, active: 0, failed: 0 });
    }
    expect(ran.size).toBe(2 * total);
    await settles("close", Promise.all(workers.map((worker) => worker.close())));
  });

  test(`${driver}: a promoted replica goes on where its master stood`, async () => {
    await using own = await startCluster({ engine, replicas: 1 });
    const [master] = nodesOf(own);
    const [replica] = nodesOf({ ...own, nodes: own.replicas });
    const bench = Bench.on(replica.url, clusterClient(own.urls, driver));
    const name = await own.queueOn(master);
    const queue = bench.queue({ defaultJobOptions: KEEP }, name);
    const total = 300;
    await queue.addBulk(Array.from({ length: total }, (_, n) => ({ name: "x", data: n })));
    const ran: string[] = [];
    const worker = bench.worker(
      async (job) => {
        ran.push(job.id);
        await new Promise((resolve) => setTimeout(resolve, 2));
      },
      { concurrency: 4, lockDuration: 1_000, stalledInterval: 300, maxStalledCount: 100 },
      name,
    );
    await until("work has begun", () => ran.length > 20);
    await own.failover(replica);
    const after = await queue.add("x", {});
    await until("all are done", async () => (await completed(queue)) === total + 1);
    expect(ran).toContain(after.id);
    expect(await own.slotOwner(name)).toBe(replica);
    await settles("close", worker.close());
  });
});
