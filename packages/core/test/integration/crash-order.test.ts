import { sharedServer } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { Bench, ENGINES } from "../support/bench.js";
import { type Child, startChild } from "../support/child.js";
import { until } from "../support/until.js";

const SHORT = { lockDuration: 1_000, stalledInterval: 200 } as const;
/** In no order of any alphabet. */
const OWN = ["m", "z10", "a", "Z", "k-2", "z9", "b", "0", "é", "k-1"];

/** Ids in line, the next one first. */
async function line(bench: Bench): Promise<string[]> {
  return (await bench.client.lrange(bench.key("wait"), 0, -1)).reverse();
}

/** A process whose worker takes what it can and never ends it. */
function stuck(bench: Bench, concurrency: number, options: object = {}): Child {
  const settings = { concurrency, maxStalledCount: 9, ...SHORT, ...options };
  return startChild("stuck-worker", { url: bench.url, name: bench.name, options: settings });
}

async function holds(bench: Bench, count: number): Promise<void> {
  const active = () => bench.client.zcard(bench.key("active"));
  await until(`${count} are held`, async () => (await active()) === count);
}

/** Lets every lease run out before anybody looks, then brings all back in one sweep. */
async function sweep(bench: Bench): Promise<void> {
  const key = bench.key("active");
  await until("all leases are over", async () => {
    const [seconds = 0, micros = 0] = await bench.client.time();
    const now = seconds * 1_000 + Math.floor(micros / 1_000);
    return (await bench.client.zcount(key, "-inf", -now - 1)) === 0;
  });
  const worker = bench.worker(() => undefined, { lockDuration: 200, stalledInterval: 100 });
  worker.pause();
  await holds(bench, 0);
  await worker.close();
}

describe.each(ENGINES)("what a dead worker held comes back in its order on %s", (engine) => {
  const open = async () => Bench.on((await sharedServer(engine)).url);

  test("ids of the caller's own", async () => {
    const bench = await open();
    const queue = bench.queue();
    await queue.addBulk(OWN.map((jobId) => ({ name: "x", data: 0, opts: { jobId } })));
    expect(await line(bench)).toEqual(OWN);
    const child = stuck(bench, 7);
    await holds(bench, 7);
    await child.kill();
    await sweep(bench);
    expect(await line(bench)).toEqual(OWN);
  });

  test("jobs added to the head", async () => {
    const bench = await open();
    const queue = bench.queue();
    for (let n = 0; n < 6; n += 1) await queue.add("x", n, { lifo: true });
    const before = await line(bench);
    expect([...before].sort()).not.toEqual(before);
    const child = stuck(bench, 4);
    await holds(bench, 4);
    await child.kill();
    await sweep(bench);
    expect(await line(bench)).toEqual(before);
  });

  test("jobs tried again from the back of the line", async () => {
    const bench = await open();
    const queue = bench.queue();
    const jobs = await queue.addBulk(
      Array.from({ length: 6 }, (_, n) => ({ name: "x", data: n, opts: { attempts: 3 } })),
    );
    let ran = 0;
    const worker = bench.worker(() => {
      ran += 1;
      if (ran === 3) worker.pause();
      throw new Error("once more");
    });
    await until("three have failed", async () => ran === 3 && worker.active === 0);
    await worker.close();
    const ids = jobs.map(({ id }) => id);
    const before = [...ids.slice(3), ...ids.slice(0, 3)];
    expect(await line(bench)).toEqual(before);
    const child = stuck(bench, 5);
    await holds(bench, 5);
    await child.kill();
    await sweep(bench);
    expect(await line(bench)).toEqual(before);
  });

  test("jobs with priorities, beside those without", async () => {
    const bench = await open();
    const queue = bench.queue();
    const ranks = [3, 1, 2, 1, 3, 2, 1, 3];
    await queue.addBulk(
      ranks.map((priority, n) => ({ name: "x", data: n, opts: { priority, jobId: OWN[n] ?? "" } })),
    );
    await queue.addBulk(["y", "q"].map((jobId) => ({ name: "x", data: 0, opts: { jobId } })));
    const before = await bench.client.zrange(bench.key("prioritized"), 0, -1);
    expect(before).toEqual(["z10", "Z", "b", "a", "z9", "m", "k-2", "0"]);
    const child = stuck(bench, 8);
    await holds(bench, 8);
    // Behind those that come back, for they were here first.
    await queue.add("x", 0, { priority: 1, jobId: "late" });
    await child.kill();
    await sweep(bench);
    expect(await line(bench)).toEqual(["y", "q"]);
    const after = await bench.client.zrange(bench.key("prioritized"), 0, -1);
    expect(after).toEqual(["z10", "Z", "b", "late", "a", "z9", "m", "k-2", "0"]);
  });

  test("several claims of several workers, after their renewals", async () => {
    const bench = await open();
    const queue = bench.queue();
    const added: string[] = [];
    const add = async (count: number) => {
      const ids = OWN.map((id) => `${id}${added.length}`).slice(0, count);
      added.push(...ids);
      await queue.addBulk(ids.map((jobId) => ({ name: "x", data: 0, opts: { jobId } })));
    };
    const one = stuck(bench, 7);
    await until("one is ready", () => one.messages.includes("ready"));
    for (const [count, sum] of [
      [3, 3],
      [1, 4],
      [3, 7],
    ] as const) {
      await add(count);
      await holds(bench, sum);
    }
    // Shorter leases, so its deadlines come before those of the claims that went before.
    const other = stuck(bench, 12, { lockDuration: 600 });
    await until("the other is ready", () => other.messages.includes("ready"));
    await add(8);
    await holds(bench, 15);
    await add(4);
    await holds(bench, 19);
    const scores = async () => {
      const pairs = await bench.client.zrange(bench.key("active"), 0, -1, "WITHSCORES");
      return new Map(added.map((id) => [id, -Number(pairs[pairs.indexOf(id) + 1])]));
    };
    const first = await scores();
    await until("every lease was renewed", async () => {
      const now = await scores();
      return added.every((id) => (now.get(id) ?? 0) > (first.get(id) ?? 0) + 100);
    });
    await Promise.all([one.kill(), other.kill()]);
    await sweep(bench);
    expect(await line(bench)).toEqual(added);
  });

  test("more leases than one look of the sweep takes", async () => {
    const bench = await open();
    const jobs = Array.from({ length: 700 }, (_, n) => ({ name: "x", data: n }));
    const added = (await bench.queue().addBulk(jobs)).map(({ id }) => id);
    // Killed before any of them is renewed. One after the other: claims of one millisecond have no order.
    const long = { lockDuration: 6_000 };
    const one = stuck(bench, 300, long);
    await holds(bench, 300);
    const other = stuck(bench, 300, long);
    await holds(bench, 600);
    await Promise.all([one.kill(), other.kill()]);
    await sweep(bench);
    expect(await line(bench)).toEqual(added);
  });

  test("a deadline of another clock, far ahead, is cut to the longest lease", async () => {
    const bench = await open();
    const queue = bench.queue();
    const job = await queue.add("x", 1);
    const child = stuck(bench, 1, { lockDuration: 60_000 });
    await holds(bench, 1);
    await child.kill();
    const year = 31_536_000_000;
    await bench.client.zadd(bench.key("active"), -(Date.now() + year), job.id);
    bench.worker(() => undefined, { lockDuration: 200, stalledInterval: 100 });
    const ends = async () => -Number(await bench.client.zscore(bench.key("active"), job.id));
    await until("it is cut", async () => (await ends()) < Date.now() + year / 2);
    expect(await ends()).toBeGreaterThan(Date.now() + 86_000_000);
    expect(await ends()).toBeLessThan(Date.now() + 86_500_000);
    expect(await queue.getJobCounts()).toMatchObject({ active: 1, waiting: 0 });
  });
});
