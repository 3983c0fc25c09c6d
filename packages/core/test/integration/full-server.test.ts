import { describe, expect, test } from "vitest";
import { Bench, ENGINES } from "../support/bench.js";
import { refusal, until } from "../support/until.js";

/** Free first: what ends, moves or removes jobs goes on where memory is used up; what adds does not. */
describe.each(ENGINES)("a %s server whose memory is used up", (engine) => {
  test("lets every run end, in every way, and brings back what a dead worker held", async () => {
    const bench = await Bench.own(engine, ["--maxmemory-policy", "noeviction"]);
    const queue = bench.queue({ retryTime: 500, defaultJobOptions: { removeOnComplete: false } });
    await queue.addBulk([
      { name: "ok", data: 0 },
      { name: "ranked", data: 0, opts: { priority: 2 } },
      { name: "late", data: 0, opts: { delay: 50 } },
      { name: "bad", data: 0 },
      { name: "again", data: 0, opts: { attempts: 2 } },
      { name: "put-off", data: 0, opts: { attempts: 2, backoff: 20 } },
      { name: "locked", data: 0, opts: { deduplication: { id: "d" } } },
      { name: "gone", data: 0, opts: { removeOnComplete: true } },
      { name: "held", data: 0 },
    ]);
    const dead = await queue.add("dead", 0);
    await bench.client
      .multi()
      .lrem(bench.key("wait"), 0, dead.id)
      .hset(bench.key("owners"), dead.id, "1:dead!")
      .zadd(bench.key("active"), -1, dead.id)
      .exec();
    await bench.client.config("SET", "maxmemory", "1");
    expect(await refusal(queue.add("x", 0))).toMatchObject({ code: "OOM" });
    const codes = new Set<unknown>();
    const lost: string[] = [];
    let held: string | undefined;
    let release: () => void = () => undefined;
    const worker = bench.worker(
      async ({ name, id, attemptsMade }) => {
        if (name === "bad") throw new Error("bad");
        if ((name === "again" || name === "put-off") && attemptsMade === 0) throw new Error("once");
        if (name !== "held") return;
        held = id;
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      },
      { concurrency: 3, lockDuration: 1_500, stalledInterval: 150 },
    );
    worker.on("error", (error) => codes.add((error as { code?: string }).code));
    worker.on("lost", ({ name }) => lost.push(name));
    await until("all but the held one have ended", async () => {
      const { completed, failed } = await queue.getJobCounts();
      return completed === 7 && failed === 1;
    });
    const deadline = async (): Promise<number> =>
      -Number(await bench.client.zscore(bench.key("active"), held ?? ""));
    const before = await deadline();
    await until("its lease is renewed", async () => (await deadline()) > before);
    release();
    await until("it is done", async () => (await queue.getCompletedCount()) === 8);
    expect(await queue.getJob(dead.id)).toMatchObject({ stalledCounter: 1, attemptsMade: 1 });
    expect([[...codes], lost]).toEqual([[], []]);
    await worker.close();
    await bench.client.config("SET", "maxmemory", "0");
    expect((await queue.doctor()).findings).toEqual([]);
    expect(await bench.client.exists(bench.key("dedup:d"))).toBe(0);
  });

  test("lets a worker give back what it holds, and an administrator move and remove", async () => {
    const bench = await Bench.own(engine, ["--maxmemory-policy", "noeviction"]);
    const queue = bench.queue({ retryTime: 500 });
    const opts = [{}, {}, { delay: 600_000 }, { delay: 600_000 }, { priority: 4 }];
    const jobs = await queue.addBulk(opts.map((one, data) => ({ name: "x", data, opts: one })));
    let running = 0;
    const worker = bench.worker(
      () => {
        running += 1;
        return new Promise(() => undefined);
      },
      { concurrency: 2 },
    );
    // Claimed is not enough: one whose handler has not begun is given back before the other.
    await until("two run", () => running === 2);
    await bench.client.config("SET", "maxmemory", "1");
    await worker.close({ timeout: 20 });
    expect((await queue.getWaiting()).map(({ data }) => data)).toEqual([0, 1]);
    await jobs[2]?.promote();
    await jobs[3]?.changeDelay(700_000);
    await jobs[4]?.changePriority({ priority: 0 });
    expect(await queue.remove(jobs[0]?.id ?? "")).toBe(1);
    expect(await queue.clean(0, 1, "waiting")).toHaveLength(1);
    expect(await queue.drain(true)).toBe(3);
    await queue.obliterate();
    expect(await bench.client.keys(`emq:{${bench.name}}:v2:job:*`)).toEqual([]);
    await bench.client.config("SET", "maxmemory", "0");
    await queue.add("x", 0);
    expect(await queue.count()).toBe(1);
  });

  test("lets an administrator pause, limit and cancel", async () => {
    const bench = await Bench.own(engine, ["--maxmemory-policy", "noeviction"]);
    const queue = bench.queue({ retryTime: 500 });
    const [running, waiting] = await queue.addBulk([0, 1].map((data) => ({ name: "x", data })));
    const reasons: unknown[] = [];
    const worker = bench.worker((_job, { signal }) => {
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    });
    worker.on("failed", (_job, error) => reasons.push((error as Error).message));
    await until("one runs", async () => (await queue.getActiveCount()) === 1);
    await bench.client.config("SET", "maxmemory", "1");
    await queue.setGlobalConcurrency(1);
    await queue.setGlobalRateLimit(50, 1_000);
    await queue.setMaxLength(5);
    await queue.pause();
    expect(await queue.isPaused()).toBe(true);
    await queue.cancel(waiting?.id ?? "", "not needed");
    await queue.cancel(running?.id ?? "", "no use");
    await queue.resume();
    await until("both have ended", async () => (await queue.getFailedCount()) === 2);
    expect(reasons).toHaveLength(2);
    await queue.removeGlobalConcurrency();
    await queue.removeGlobalRateLimit();
    await queue.setMaxLength(null);
    expect(await queue.getGlobalConcurrency()).toBeNull();
    await worker.close();
    await bench.client.config("SET", "maxmemory", "0");
    expect((await queue.doctor()).findings).toEqual([]);
  });
});
