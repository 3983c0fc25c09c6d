import { sharedServer } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { Bench, ENGINES, gate, makeDriver, makeStrict } from "../support/bench.js";
import { refusal, until } from "../support/until.js";

const open = async (): Promise<Bench> => Bench.on((await sharedServer("redis")).url);

/** When the server gave jobs out, in its own ms, oldest first. */
async function startsOf(bench: Bench): Promise<number[]> {
  const entries = await bench.client.xrange(bench.key("events"), "-", "+");
  return entries.flatMap(([id, pairs]) =>
    pairs
      .filter((code, at) => at % 2 === 0 && code.startsWith("a"))
      .map(() => Number(id.split("-", 1)[0])),
  );
}

describe.each(ENGINES)("limits of the queue on %s", (engine) => {
  const here = async (): Promise<Bench> => {
    const { url } = await sharedServer(engine);
    const driver = engine === "redis" ? makeStrict(url) : makeDriver(url, "node-redis");
    return Bench.on(url, await driver);
  };

  test("no more jobs run at once than the queue allows, whoever works, and none loses its place", async () => {
    const bench = await here();
    const queue = bench.queue();
    expect(await queue.getGlobalConcurrency()).toBe(null);
    await queue.setGlobalConcurrency(2);
    expect(await queue.getGlobalConcurrency()).toBe(2);
    let running = 0;
    let most = 0;
    const order: unknown[] = [];
    const work = async (job: { readonly data: unknown }): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      order.push(job.data);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
    };
    await queue.addBulk(Array.from({ length: 20 }, (_, n) => ({ name: "x", data: n })));
    bench.worker(work, { concurrency: 5 });
    bench.worker(work, { concurrency: 5 });
    await until("all are done", async () => (await bench.completed()) === 20);
    expect(most).toBe(2);
    expect(new Set(order).size).toBe(20);
  });

  test("a limit that is raised or lifted wakes workers that wait", async () => {
    const bench = await here();
    const queue = bench.queue();
    await queue.setGlobalConcurrency(1);
    const end = gate();
    let running = 0;
    bench.worker(
      async () => {
        running += 1;
        await end.opened;
      },
      { concurrency: 5 },
    );
    await queue.addBulk([1, 2, 3, 4].map((n) => ({ name: "x", data: n })));
    await until("one runs", () => running === 1);
    await queue.setGlobalConcurrency(2);
    await until("two run", () => running === 2);
    await queue.setGlobalConcurrency(null);
    await until("all run", () => running === 4);
    expect(await queue.getGlobalConcurrency()).toBe(null);
    end.open();
  });

  test("no more jobs start in a window than the rate allows, in order, over all workers", async () => {
    const bench = await here();
    const queue = bench.queue();
    await queue.setGlobalRateLimit(3, 300);
    expect(await queue.getGlobalRateLimit()).toEqual({ max: 3, duration: 300 });
    await queue.addBulk(Array.from({ length: 8 }, (_, n) => ({ name: "x", data: n })));
    const order: unknown[] = [];
    for (let n = 0; n < 2; n += 1) {
      bench.worker((job) => void order.push(job.data), { concurrency: 4 });
    }
    await until("all are done", async () => (await bench.completed()) === 8);
    expect([...order].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    // The server's own times: the fourth opened the second window, the seventh the third.
    const starts = await startsOf(bench);
    expect(starts.length).toBe(8);
    expect((starts[3] ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(250);
    expect((starts[6] ?? 0) - (starts[3] ?? 0)).toBeGreaterThan(250);
    await queue.removeGlobalRateLimit();
    expect(await queue.getGlobalRateLimit()).toBe(null);
  });

  test("a hold keeps every worker from starting jobs until it ends", async () => {
    const bench = await here();
    const queue = bench.queue();
    await queue.rateLimit(3_600_000);
    expect(await queue.getRateLimitTtl()).toBeGreaterThan(3_500_000);
    const order: unknown[] = [];
    const worker = bench.worker((job) => void order.push(job.data));
    await worker.waitUntilReady();
    await queue.addBulk([1, 2, 3].map((n) => ({ name: "x", data: n })));
    await queue.rateLimit(0);
    await until("all ran", async () => (await bench.completed()) === 3);
    expect(order).toEqual([1, 2, 3]);
    expect(await queue.getRateLimitTtl()).toBe(0);
    await worker.rateLimit(40);
    await queue.add("x", 4);
    await until("it ran", async () => (await bench.completed()) === 4);
    expect(await bench.client.hexists(bench.key("meta"), "rate.max")).toBe(0);
  });
});

test("a worker's limiter counts the jobs of all workers that have one", async () => {
  const bench = await open();
  const queue = bench.queue();
  const limiter = { max: 2, duration: 3_600_000 };
  const order: unknown[] = [];
  for (let n = 0; n < 2; n += 1) bench.worker((job) => void order.push(job.data), { limiter });
  await queue.addBulk([1, 2, 3, 4].map((n) => ({ name: "x", data: n })));
  await until("two ran", async () => (await bench.completed()) === 2);
  expect(await queue.getRateLimitTtl(2)).toBeGreaterThan(3_000_000);
  expect(await queue.getRateLimitTtl(3)).toBe(0);
  expect(await queue.getJobCounts()).toMatchObject({ waiting: 2, active: 0 });
  expect(await bench.client.hexists(bench.key("meta"), "rate.max")).toBe(0);
  bench.worker((job) => void order.push(job.data));
  await until("a worker without one goes on", async () => (await bench.completed()) === 4);
  expect(order.sort()).toEqual([1, 2, 3, 4]);
});

test("a limiter of scope worker counts its own jobs alone", async () => {
  const bench = await open();
  const queue = bench.queue();
  const limiter = { max: 3, duration: 400, scope: "worker" } as const;
  const starts: number[] = [];
  const order: unknown[] = [];
  bench.worker(
    (job) => {
      starts.push(performance.now());
      order.push(job.data);
    },
    { limiter, concurrency: 20 },
  );
  await queue.addBulk([1, 2, 3, 4, 5].map((n) => ({ name: "x", data: n })));
  await until("all ran", async () => (await bench.completed()) === 5);
  expect(order).toEqual([1, 2, 3, 4, 5]);
  expect((starts[3] ?? 0) - (starts[2] ?? 0)).toBeGreaterThan(200);
  expect(await bench.client.exists(bench.key("limiter"))).toBe(0);
});

test("a counter without an end does not wedge the queue", async () => {
  const bench = await open();
  const queue = bench.queue();
  await queue.setGlobalRateLimit(5, 10_000);
  await bench.client.set(bench.key("limiter"), "999");
  expect(await queue.getRateLimitTtl()).toBe(0);
  bench.worker(() => undefined);
  await queue.add("x", 1);
  await until("it ran", async () => (await bench.completed()) === 1);
  expect(await bench.client.get(bench.key("limiter"))).toBe("1");
  expect(await bench.client.pttl(bench.key("limiter"))).toBeGreaterThan(0);
});

describe("bad limits are refused", () => {
  test.each([0, -1, 1.5, Number.NaN, "1", undefined, 10_000_000_000])("%j", async (bad) => {
    const queue = (await open()).queue();
    const value = bad as number;
    expect((await refusal(queue.setGlobalConcurrency(value))).option).toBe("concurrency");
    expect((await refusal(queue.setGlobalRateLimit(value, 1))).option).toBe("max");
    expect((await refusal(queue.setGlobalRateLimit(1, value))).option).toBe("duration");
    // 0 ends a hold, and without a number the queue's own rate counts.
    if (bad !== 0) expect((await refusal(queue.rateLimit(value))).option).toBe("ms");
    if (bad !== undefined) {
      expect((await refusal(queue.getRateLimitTtl(value))).option).toBe("maxJobs");
    }
  });

  test.each([
    [{ max: 0, duration: 1 }, "limiter.max"],
    [{ max: 1 }, "limiter.duration"],
    [{ duration: 1 }, "limiter.max"],
    [{ max: 1, duration: 0 }, "limiter.duration"],
    [{ max: 1, duration: 1, scope: "job" }, "limiter.scope"],
    [{ max: 1, durations: 1 }, "limiter.durations"],
    [null, "limiter"],
  ])("limiter %j", async (limiter, option) => {
    const bench = await open();
    expect((await refusal(() => bench.worker(() => 1, { limiter: limiter as never }))).option).toBe(
      option,
    );
  });
});
