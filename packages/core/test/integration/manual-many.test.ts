import { setTimeout as sleep } from "node:timers/promises";
import { stepScript, turnScript } from "@echomq/scripts";
import {
  type FlakyCall,
  FlakyPlan,
  flakyDriver,
  ofCommand,
  ofScript,
  sharedServer,
} from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { Bench, ENGINES, gate, makeDriver } from "../support/bench.js";
import { until } from "../support/until.js";

// Leases outlast the test: what is lost must come back by itself, not by the sweep.
const LONG = { lockDuration: 3_600_000, stalledInterval: 3_600_000 } as const;

describe.each(ENGINES)("many callers of getNextJob on %s", (engine) => {
  const open = async () => {
    const { url } = await sharedServer(engine);
    const plan = new FlakyPlan();
    return { plan, bench: Bench.on(url, flakyDriver(await makeDriver(url), plan)) };
  };
  const jobs = (count: number) => Array.from({ length: count }, (_, n) => ({ name: "x", data: n }));

  /** Callers of a worker that has found nothing and waits to be woken; what it claims next is told late. */
  const waiting = async (timeouts: readonly number[]) => {
    const { bench, plan } = await open();
    const queue = bench.queue();
    const worker = bench.worker(null, LONG);
    const count = (when: Parameters<FlakyPlan["on"]>[0]) =>
      plan.on(when, { kind: "delay", ms: 0 }, { times: 0 });
    const [steps, waits] = [count(ofScript(stepScript)), count(ofCommand("BZPOPMIN"))];
    await worker.run();
    const calls = timeouts.map((timeout) => worker.getNextJob(undefined, { timeout }));
    await until("it waits", async () => {
      const seen = steps.seen;
      await sleep(60);
      return seen === steps.seen && waits.seen > 0;
    });
    const late = gate();
    const claims = (call: FlakyCall) => ofScript(stepScript)(call) || ofScript(turnScript)(call);
    plan.on(claims, { kind: "late", until: late.opened }, { times: 4 });
    const added = (await queue.addBulk(jobs(60))).map(({ id }) => id);
    const line = async () => (await bench.client.lrange(bench.key("wait"), 0, -1)).reverse();
    return { bench, queue, worker, calls, late, added, line };
  };

  test.each([2, 12, 40])("%i that time out together leave nothing claimed", async (count) => {
    const { queue, worker, calls, late, added, line } = await waiting(Array(count).fill(1_500));
    await until("jobs are claimed", async () => (await queue.getJobCounts()).active > 0);
    expect(await Promise.all(calls)).toEqual(calls.map(() => undefined));
    late.open();
    await until("all are back", async () => (await queue.getJobCounts()).active === 0);
    expect(await line()).toEqual(added);
    const next = await worker.getNextJob();
    expect(next?.id).toBe(added[0]);
    await next?.moveToCompleted();
  });

  test("some time out, some still wait: each job is somebody's or in line", async () => {
    const timeouts = [...Array(14).fill(1_500), ...Array(3).fill(60_000)];
    const { bench, queue, calls, late, added, line } = await waiting(timeouts);
    await until("jobs are claimed", async () => (await queue.getJobCounts()).active > 3);
    expect(await Promise.all(calls.slice(0, 14))).toEqual(Array(14).fill(undefined));
    late.open();
    const held = await Promise.all(calls.slice(14));
    expect(held.map((job) => job?.id)).toEqual(added.slice(0, 3));
    await until("the rest is back", async () => (await queue.getJobCounts()).active === 3);
    expect(await line()).toEqual(added.slice(3));
    await Promise.all(held.map((job) => job?.moveToCompleted()));
    expect(await bench.completed()).toBe(3);
  });

  test("callers that come and go at any moment get each job once, and none hangs", async () => {
    const { bench } = await open();
    const queue = bench.queue();
    const worker = bench.worker(null, LONG);
    const seen: string[] = [];
    let at = 0;
    const total = 200;
    const caller = async (): Promise<void> => {
      while (seen.length < total) {
        at += 1;
        const job = await worker.getNextJob(undefined, { timeout: 1 + (at % 7) });
        if (!job) continue;
        seen.push(job.id);
        await job.moveToCompleted();
      }
    };
    const callers = Array.from({ length: 20 }, caller);
    for (let n = 0; n < total; n += 20) await queue.addBulk(jobs(20));
    await Promise.all(callers);
    expect(new Set(seen).size).toBe(total);
    expect(await queue.getJobCounts()).toMatchObject({ active: 0, waiting: 0, completed: total });
  });

  test("a look after a caller that timed out answers without waiting for a wake-up", async () => {
    const { bench, plan } = await open();
    const worker = bench.worker(null, LONG);
    await worker.run();
    expect(await worker.getNextJob(undefined, { timeout: 5 })).toBe(undefined);
    const steps = plan.on(ofScript(stepScript), { kind: "delay", ms: 0 }, { times: 0 });
    const look = await worker.getNextJob(undefined, { block: false, timeout: 60_000 });
    expect(look).toBe(undefined);
    expect(steps.seen).toBeGreaterThan(0);
  });

  test("nothing is claimed before somebody asks, whatever the concurrency", async () => {
    const { bench, plan } = await open();
    const queue = bench.queue();
    const steps = plan.on(ofScript(stepScript), { kind: "delay", ms: 0 }, { times: 0 });
    await queue.addBulk(jobs(9));
    const worker = bench.worker(null, { concurrency: 5, claimAhead: 4, ...LONG });
    await worker.run();
    worker.concurrency = 7;
    const first = await worker.getNextJob();
    expect(await queue.getJobCounts()).toMatchObject({ active: 1, waiting: 8 });
    await first?.moveToCompleted();
    await until("nothing more is claimed", async () => (await bench.completed()) === 1);
    expect(await queue.getJobCounts()).toMatchObject({ active: 0, waiting: 8 });
    expect(steps.seen).toBeLessThan(5);
  });
});
