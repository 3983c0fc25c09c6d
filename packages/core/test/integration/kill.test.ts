import { sharedServer } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { Bench, ENGINES } from "../support/bench.js";
import { startChild } from "../support/child.js";
import { until } from "../support/until.js";

const SHORT = { lockDuration: 400, stalledInterval: 200 } as const;

describe.each(ENGINES)("a worker killed with kill -9 on %s", (engine) => {
  test("loses nothing: every job is done, the killed ones next", async () => {
    const bench = Bench.on((await sharedServer(engine)).url);
    const queue = bench.queue();
    const stuck = await queue.addBulk([
      { name: "stuck", data: 0 },
      { name: "stuck", data: 1 },
    ]);
    const child = startChild("stuck-worker", {
      url: bench.url,
      name: bench.name,
      options: { concurrency: 2, ...SHORT },
    });
    await until(
      "both jobs run",
      () => child.messages.filter((m) => m.startsWith("begun")).length === 2,
    );
    const rest = await queue.addBulk(
      Array.from({ length: 20 }, (_, n) => ({ name: "rest", data: n })),
    );
    await child.kill();

    // Nobody else is free before the sweep has put them back: the order of what follows is exact.
    const order: string[] = [];
    const stalled: string[] = [];
    const sweeping = bench.worker(async () => undefined, { ...SHORT });
    sweeping.pause();
    sweeping.on("stalled", (id) => stalled.push(id));
    await until("both are back", () => stalled.length === 2);
    const worker = bench.worker(async (job) => void order.push(job.id));
    await until("all are done", async () => (await bench.completed()) === 22);
    expect(order).toEqual([...stuck, ...rest].map(({ id }) => id));
    expect(stalled.sort()).toEqual(stuck.map(({ id }) => id).sort());
    const retried = await queue.getJob(stuck[0]?.id ?? "");
    expect(retried).toMatchObject({ stalledCounter: 1, attemptsMade: 1, attemptsStarted: 2 });
    await worker.close();
    expect(await queue.getJobCounts()).toMatchObject({ active: 0, waiting: 0, completed: 22 });
  });

  test("a job that kills its worker each time ends as failed when its stall budget is used up", async () => {
    const bench = Bench.on((await sharedServer(engine)).url);
    const queue = bench.queue();
    const poison = await queue.add("stuck", {}, { attempts: 5 });
    const settings = {
      url: bench.url,
      name: bench.name,
      options: { ...SHORT, maxStalledCount: 1 },
    };
    for (let round = 1; round <= 2; round += 1) {
      const child = startChild("stuck-worker", settings);
      await until(`round ${round}`, () => child.messages.includes(`begun ${poison.id}`));
      await child.kill();
    }
    const ran: string[] = [];
    const worker = bench.worker(async (job) => void ran.push(job.id), {
      ...SHORT,
      maxStalledCount: 1,
    });
    const failures: [string, boolean][] = [];
    worker.on("failed", (job, _error, retry) => failures.push([job.id, retry]));
    await until("it is failed", async () => (await queue.getJobCounts()).failed === 1);
    const job = await queue.getJob(poison.id);
    expect(job?.failedReason).toContain("stalled more often than allowed");
    expect(job?.stalledCounter).toBe(2);
    await until("it is told", () => failures.length === 1);
    expect(failures).toEqual([[poison.id, false]]);
    await queue.add("after", {});
    await until("the worker goes on", () => ran.length === 1);
    expect(ran).not.toContain(poison.id);
  });

  test("killing at any moment loses no job", async () => {
    const bench = Bench.on((await sharedServer(engine)).url);
    const queue = bench.queue();
    const total = 300;
    const jobs = await queue.addBulk(
      Array.from({ length: total }, (_, n) => ({ name: "ok", data: n })),
    );
    const options = { concurrency: 5, maxStalledCount: 1_000, removeOnComplete: false, ...SHORT };
    const settings = { url: bench.url, name: bench.name, options };
    for (let round = 1; round <= 4; round += 1) {
      const child = startChild("stuck-worker", settings);
      await until("it has begun", () => child.messages.length > 1 + round * 3);
      await child.kill();
      const done = await bench.completed();
      if (done === total) break;
    }
    bench.worker(async () => "done", options);
    await until("all are done", async () => (await bench.completed()) === total);
    expect(await queue.getJobCounts()).toMatchObject({ waiting: 0, active: 0, failed: 0 });
    expect(new Set(await bench.client.zrange(bench.key("completed"), 0, -1))).toEqual(
      new Set(jobs.map(({ id }) => id)),
    );
    expect(await bench.client.hlen(bench.key("owners"))).toBe(0);
  });

  test("hundreds of leases of one dead worker come back in one sweep, in order", async () => {
    const bench = Bench.on((await sharedServer(engine)).url);
    const queue = bench.queue();
    const total = 450;
    const jobs = await queue.addBulk(
      Array.from({ length: total }, (_, n) => ({ name: "x", data: n })),
    );
    const ids = jobs.map(({ id }) => id);
    await queue.add("later", {});
    const dead = bench.client.multi();
    for (const id of ids) {
      dead
        .rpop(bench.key("wait"))
        .hset(bench.key("owners"), id, "1:dead")
        .zadd(bench.key("active"), -1, id);
    }
    await dead.exec();
    expect(await queue.getJobCounts()).toMatchObject({ waiting: 1, active: total });
    const sweeper = bench.worker(() => undefined, { lockDuration: 200, stalledInterval: 200 });
    sweeper.pause();
    await until("all are back", async () => (await queue.getJobCounts()).waiting === total + 1);
    const line = (await bench.client.lrange(bench.key("wait"), 1, -1)).reverse();
    expect(line).toEqual(ids);
    // Popped but never begun: no fault of the jobs.
    expect((await queue.getJob(ids[0] ?? ""))?.stalledCounter).toBe(0);
  });
});
