import { sharedServer } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { createFakeClock, type FakeClock } from "../../src/testing/index.js";
import { Bench, gate } from "../support/bench.js";
import { refusal, until } from "../support/until.js";

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;

async function open(clock: FakeClock = createFakeClock()): Promise<{
  readonly bench: Bench;
  readonly clock: FakeClock;
}> {
  const { url } = await sharedServer("redis");
  return { bench: Bench.on(url, clock.connection(url)), clock };
}

describe("a fake clock", () => {
  test("begins where it is told, stands still, and is moved on", async () => {
    const clock = createFakeClock(Date.UTC(2031, 0, 1));
    expect(clock.now()).toBe(Date.UTC(2031, 0, 1));
    await clock.advance(0);
    await clock.advance(1);
    expect(clock.now()).toBe(Date.UTC(2031, 0, 1) + 1);
    await clock.advanceTo(new Date(Date.UTC(2032, 0, 1)));
    await clock.advanceTo(clock.now());
    expect(new Date(clock.now()).getUTCFullYear()).toBe(2032);
    await Promise.all([clock.advance(1), clock.advance(2), clock.advance(3)]);
    expect(clock.now()).toBe(Date.UTC(2032, 0, 1) + 6);
    expect(Math.abs(createFakeClock().now() - Date.now())).toBeLessThan(DAY);
    expect(createFakeClock(0).now()).toBe(0);
  });

  test("is what jobs, runs and retention go by", async () => {
    const { bench, clock } = await open(createFakeClock(Date.UTC(2031, 0, 1)));
    const queue = bench.queue();
    const worker = bench.worker(() => 1);
    const job = await queue.add("x", 1, { removeOnComplete: { age: 60 } });
    expect(job.timestamp).toBe(clock.now());
    await until("it is done", async () => (await job.getState()) === "completed");
    const read = await queue.getJob(job.id);
    expect(read).toMatchObject({ processedOn: clock.now(), finishedOn: clock.now() });
    await clock.advance(MINUTE + 1);
    expect(await queue.getWorkers()).toEqual([
      expect.objectContaining({ seenAt: clock.now(), startedAt: clock.now() - MINUTE - 1 }),
    ]);
    await queue.add("x", 1, { removeOnComplete: { age: 60 } });
    await until("the first is gone", async () => (await job.getState()) === "unknown");
    await worker.close();
  });

  test("a job that is delayed by a day runs once the clock is moved, and not before", async () => {
    const { bench, clock } = await open();
    const queue = bench.queue();
    const ran: string[] = [];
    const worker = bench.worker((job) => void ran.push(job.name));
    await worker.waitUntilReady();
    const at = clock.now() + 2 * DAY;
    await queue.add("tomorrow", 1, { delay: DAY });
    await queue.add("then", 1, { runAt: new Date(at) });
    await clock.advance(DAY - 1);
    expect(await queue.getJobCounts()).toMatchObject({ delayed: 2, waiting: 0, active: 0 });
    await clock.advance(1);
    await until("the first ran", () => ran.length === 1);
    await clock.advanceTo(at);
    await until("both ran", () => ran.length === 2);
    expect(ran).toEqual(["tomorrow", "then"]);
  });

  test("many due jobs are in line when the call resolves", async () => {
    const { bench, clock } = await open();
    const queue = bench.queue();
    const worker = bench.worker(() => 1);
    await worker.waitUntilReady();
    worker.pause();
    const jobs = Array.from({ length: 1_200 }, (_, n) => ({
      name: "x",
      data: n,
      opts: { delay: 5 },
    }));
    await queue.addBulk(jobs);
    await clock.advance(5);
    expect(await queue.getJobCounts()).toMatchObject({ delayed: 0, waiting: 1_200 });
  });

  test("a backoff and a time to live go by it", async () => {
    const { bench, clock } = await open();
    const queue = bench.queue();
    const worker = bench.worker((job) => {
      if (job.attemptsMade < 2) throw new Error("not yet");
    });
    const job = await queue.add("x", 1, {
      attempts: 3,
      backoff: { type: "exponential", delay: HOUR },
    });
    for (const ms of [HOUR, 2 * HOUR]) {
      await until("it is put off", async () => (await job.getState()) === "delayed");
      await clock.advance(ms);
    }
    await until("it is done", async () => (await job.getState()) === "completed");
    worker.pause();
    const late = await queue.add("x", 1, { ttl: MINUTE });
    await clock.advance(MINUTE + 1);
    worker.resume();
    await until("it expired", async () => (await late.getState()) === "failed");
    expect((await queue.getJob(late.id))?.failedReason).toMatch(/expired/);
  });

  test("a jump takes no job from a worker that lives, and all from one that does not", async () => {
    const { bench, clock } = await open();
    const queue = bench.queue();
    const hold = gate();
    onTestFinished(() => hold.open());
    const stalled: string[] = [];
    const worker = bench.worker(() => hold.opened, { concurrency: 2 });
    const sweeper = bench.worker(null, { stalledInterval: 100 });
    sweeper.on("stalled", (id) => stalled.push(id));
    const one = await queue.add("x", 1);
    await until("it runs", () => worker.active === 1);
    for (let day = 0; day < 5; day += 1) await clock.advance(DAY);
    // A job whose worker is gone: its lease was never renewed.
    const dead = await queue.add("x", 2, { delay: HOUR });
    const key = (unit: string): string => bench.key(unit);
    await bench.client.zrem(key("delayed"), dead.id);
    await bench.client.zadd(key("active"), -(clock.now() + SECOND), dead.id);
    await bench.client.hset(key("owners"), dead.id, `${clock.now()}:gone.1!`);
    await clock.advance(SECOND + 1);
    await until("it is put back", () => stalled.length === 1);
    expect(stalled).toEqual([dead.id]);
    hold.open();
    await until("both are done", async () => (await queue.getJobCounts()).completed === 2);
    expect(await queue.getJob(one.id)).toMatchObject({ stalledCounter: 0, attemptsMade: 1 });
  });

  test("what the server counts down is moved on too: a throttle, a rate, a hold", async () => {
    const { bench, clock } = await open();
    const queue = bench.queue();
    const again = bench.queue();
    const throttle = { deduplication: { id: "alert:*?[a]", ttl: HOUR } };
    const first = await queue.add("x", 1, throttle);
    expect((await again.add("x", 2, throttle)).id).toBe(first.id);
    await clock.advance(HOUR - MINUTE);
    expect((await queue.add("x", 3, throttle)).id).toBe(first.id);
    await clock.advance(MINUTE);
    expect((await queue.add("x", 4, throttle)).id).not.toBe(first.id);

    await queue.setGlobalRateLimit(1, HOUR);
    const done: unknown[] = [];
    const worker = bench.worker((job) => void done.push(job.data));
    await until("one ran", () => done.length === 1);
    const left = await queue.getRateLimitTtl();
    expect(left).toBeGreaterThan(HOUR - MINUTE);
    await clock.advance(HOUR);
    await until("the next ran", () => done.length === 2);
    await worker.close();
    await queue.removeGlobalRateLimit();
    await queue.rateLimit(HOUR);
    await clock.advance(HOUR);
    expect(await queue.getRateLimitTtl()).toBe(0);
  });

  test("two queues of a name do not move what is counted down twice", async () => {
    const { bench, clock } = await open();
    const queues = [bench.queue(), bench.queue(), bench.queue()];
    for (const queue of queues) await queue.waitUntilReady();
    const throttle = { deduplication: { id: "a", ttl: 4 * HOUR } };
    const first = await queues[0]?.add("x", 1, throttle);
    await clock.advance(HOUR);
    await clock.advance(HOUR);
    expect((await queues[1]?.add("x", 2, throttle))?.id).toBe(first?.id);
    const ttl = await bench.client.pttl(bench.key("dedup:a"));
    expect(ttl).toBeGreaterThan(2 * HOUR - MINUTE);
    expect(ttl).toBeLessThanOrEqual(2 * HOUR);
  });

  test("keys of a queue that is not there are left alone", async () => {
    const { bench, clock } = await open();
    const queue = bench.queue();
    expect(await queue.getJobCounts()).toMatchObject({ waiting: 0 });
    await clock.advance(DAY);
    expect(await bench.client.keys(`emq:{${bench.name}}:*`)).toEqual([]);
  });

  test("does not reach the ids that all programs of a server share", async () => {
    const { url } = await sharedServer("redis");
    const real = Bench.on(url);
    await real.queue().add("x", 1);
    const clock = createFakeClock(Date.UTC(2100, 0, 1));
    await Bench.on(url, clock.connection(url)).queue().add("x", 1);
    const [seconds = "0"] = (await real.client.time()).map(String);
    const ends = Object.values(await real.client.hgetall("{emq}:nodes")).map((one) =>
      Number(one.split(":", 1)[0]),
    );
    expect(ends.length).toBeGreaterThan(0);
    for (const end of ends) expect(end).toBeLessThan(Number(seconds) * 1_000 + DAY);
  });

  test("is taken by every form of connection, and by dead letters and events beside it", async () => {
    const { url } = await sharedServer("redis");
    const clock = createFakeClock(Date.UTC(2031, 0, 1));
    const { hostname, port } = new URL(url);
    const address = { host: hostname, port: Number(port) };
    const bench = Bench.on(url, clock.connection(address));
    const queue = bench.queue();
    const dead = bench.queue({}, `${bench.name}-dead`);
    const events = bench.events();
    await events.waitUntilReady();
    const delays: number[] = [];
    events.on("delayed", ({ delay }) => delays.push(delay));
    bench.worker(
      () => {
        throw new Error("no");
      },
      { deadLetter: { queue: dead.name } },
    );
    await queue.add("x", 1, { delay: HOUR });
    await until("it is told", () => delays.length === 1);
    expect(delays).toEqual([clock.now() + HOUR]);
    await clock.advance(HOUR);
    await until("the letter is there", async () => (await dead.getWaitingCount()) === 1);
    expect(await queue.doctor()).toMatchObject({ ok: true, at: clock.now() });
  });

  test("of the last wrapping holds, and others keep their own", async () => {
    const { url } = await sharedServer("redis");
    const [one, two] = [createFakeClock(1_000), createFakeClock(2_000)];
    const bench = Bench.on(url, two.connection(one.connection(url)));
    expect((await bench.queue().add("x", 1)).timestamp).toBe(2_000);
    expect((await Bench.on(url).queue().add("x", 1)).timestamp).toBeGreaterThan(DAY);
  });

  test("does not wait for what was closed", async () => {
    const { bench, clock } = await open();
    const queue = bench.queue();
    const worker = bench.worker(() => 1);
    await queue.add("x", 1, { delay: DAY });
    await Promise.all([worker.close(), queue.close(), clock.advance(DAY)]);
    await clock.advance(DAY);
    expect(await bench.queue().getJobCounts()).toMatchObject({ delayed: 1 });
  });

  test("stays where it is when a worker's server does not answer", async () => {
    const bench = await Bench.own();
    const clock = createFakeClock();
    const timed = Bench.on(bench.url, clock.connection(bench.url));
    const queue = timed.queue({ retryTime: 0, commandTimeout: 200 });
    await queue.add("x", 1, { delay: DAY });
    await bench.server.kill();
    const before = clock.now();
    expect(await refusal(clock.advance(DAY))).toMatchObject({ transient: true });
    expect(clock.now()).toBe(before);
    await bench.server.restart();
    await until("it answers", () => queue.getJobCounts().then(Boolean, () => false));
    await clock.advance(DAY);
    expect(clock.now()).toBe(before + DAY);
  });
});
