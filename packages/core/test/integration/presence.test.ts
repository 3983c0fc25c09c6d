import { hostname } from "node:os";
import { sharedServer } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { Bench, ENGINES, makeStrict } from "../support/bench.js";
import { refusal, until } from "../support/until.js";

describe.each(ENGINES)("workers make themselves known on %s", (engine) => {
  async function open(): Promise<Bench> {
    const { url } = await sharedServer(engine);
    const made = await makeStrict(url);
    onTestFinished(() => made.close());
    return Bench.on(url, made);
  }

  test("a worker is listed while it lives, and gone once it is closed", async () => {
    const bench = await open();
    const queue = bench.queue();
    const one = bench.worker(() => undefined, { name: "mailer", concurrency: 7 });
    await one.waitUntilReady();
    const two = bench.worker(() => undefined);
    await two.waitUntilReady();
    await until("both are listed", async () => (await queue.getWorkersCount()) === 2);
    const list = await queue.getWorkers();
    expect(list).toHaveLength(2);
    const mailer = list.find(({ name }) => name === "mailer");
    expect(mailer).toMatchObject({ host: hostname(), pid: process.pid, concurrency: 7 });
    expect(mailer?.seenAt).toBeGreaterThanOrEqual(mailer?.startedAt ?? Number.NaN);
    expect(list.find(({ name }) => name === undefined)).toMatchObject({ concurrency: 1 });
    await one.close();
    expect(await queue.getWorkers()).toMatchObject([{ concurrency: 1 }]);
    await two.close();
    expect(await queue.getWorkersCount()).toBe(0);
    expect(await bench.client.exists(bench.key("workers"), bench.key("workers-info"))).toBe(0);
  });

  test("a worker that died is not listed, and the next heartbeat drops it", async () => {
    const bench = await open();
    const queue = bench.queue();
    await queue.add("x", {});
    await bench.client.zadd(bench.key("workers"), 1_000, "dead");
    await bench.client.hset(bench.key("workers-info"), "dead", "{}");
    expect(await queue.getWorkers()).toEqual([]);
    const worker = bench.worker(() => undefined);
    await worker.waitUntilReady();
    await until("it is dropped", async () => {
      return (await bench.client.hexists(bench.key("workers-info"), "dead")) === 0;
    });
    expect(await queue.getWorkersCount()).toBe(1);
    // What another version wrote is read as far as it goes.
    const [{ id = "" } = {}] = await queue.getWorkers();
    await bench.client.hset(bench.key("workers-info"), id, "[");
    expect(await queue.getWorkers()).toMatchObject([{ id, host: "", pid: 0, concurrency: 0 }]);
  });

  test("ended jobs are counted only where a worker is asked to", async () => {
    const bench = await open();
    const queue = bench.queue();
    const plain = bench.worker(() => undefined);
    await queue.add("x", {});
    await until("it is done", async () => (await queue.getCompletedCount()) === 1);
    await plain.close();
    expect((await queue.getMetrics("completed")).meta.count).toBe(0);

    const counting = bench.worker(
      ({ name }) => {
        if (name === "bad") throw new Error("bad");
      },
      { metrics: { maxDataPoints: 10 } },
    );
    await queue.addBulk(["x", "x", "x", "bad"].map((name) => ({ name, data: 0 })));
    await queue.add("bad", 0, { attempts: 2 });
    await until(
      "all ended",
      async () => (await queue.count()) + (await queue.getActiveCount()) === 0,
    );
    // Written by itself, not only by the close.
    const completed = async () => (await queue.getMetrics("completed")).meta.count;
    await until("the counts are written", async () => (await completed()) > 0);
    await counting.close();
    expect(await completed()).toBe(3);
    // A failed attempt that is tried again is no failed job.
    const failed = await queue.getMetrics("failed");
    expect(failed.meta.count).toBe(2);
    expect(failed.meta.prevTS % 60_000).toBe(0);
    const text = await queue.exportPrometheusMetrics();
    expect(text).toContain(`echomq_job_completed_total{queue="${bench.name}"} 3`);
    expect(text).toContain(`echomq_job_failed_total{queue="${bench.name}"} 2`);
  });

  test("counts come per full minute, newest first, with nothing where nothing ended", async () => {
    const bench = await open();
    const queue = bench.queue();
    await queue.add("x", {});
    const [seconds = "0"] = await bench.client.time();
    const now = Math.floor(Number(seconds) / 60);
    const hash = { low: now - 4, last: now - 1, total: 12, keep: 6 };
    await bench.client.hset(bench.key("metrics:completed"), hash);
    const counts = { [now - 4]: 3, [now - 2]: 4, [now - 1]: 5 };
    await bench.client.hset(bench.key("metrics:completed"), counts);
    const all = await queue.getMetrics("completed");
    // The minute may have turned meanwhile: then one that is empty comes first.
    const turned = all.data[0] === 0 ? [0] : [];
    expect(all.data).toEqual([...turned, 5, 4, 0, 3]);
    expect(all.count).toBe(all.data.length);
    expect(all.meta).toEqual({ count: 12, prevTS: (now - 1) * 60_000, prevCount: 7 });
    const some = await queue.getMetrics("completed", turned.length, turned.length + 1);
    expect(some.data.slice(-2)).toEqual(turned.length === 0 ? some.data : [5, 4]);
    expect((await queue.getMetrics("completed", 50)).data).toEqual([]);
  });

  test("its options are checked", async () => {
    const bench = await open();
    const make = (options: object) => () => bench.worker(() => undefined, options as never);
    const cases: [string, object][] = [
      ["name", { name: "" }],
      ["name", { name: 5 }],
      ["metrics", { metrics: true }],
      ["metrics.maxDataPoints", { metrics: {} }],
      ["metrics.maxDataPoints", { metrics: { maxDataPoints: 0 } }],
      ["metrics.maxDataPoints", { metrics: { maxDataPoints: 525_601 } }],
      ["metrics.maxDataPoint", { metrics: { maxDataPoint: 1 } }],
    ];
    for (const [option, options] of cases) {
      expect(await refusal(make(options)), option).toMatchObject({ code: "VALIDATION", option });
    }
  });
});
