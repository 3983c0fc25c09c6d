import type { RedisDriver } from "@echomq/scripts";
import { sharedServer } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { Bench, ENGINES, gate, makeDriver, makeStrict } from "../support/bench.js";
import { refusal, until } from "../support/until.js";

/** A driver that fails every command after the first `most`, as a process that dies there would. */
function dying(driver: RedisDriver, most: number): RedisDriver {
  let left = most;
  return new Proxy(driver, {
    get(target, name) {
      if (name === "command" || name === "pipeline") {
        return (...args: unknown[]) => {
          left -= 1;
          if (left < 0) return Promise.reject(new Error("the process died"));
          return Reflect.apply(Reflect.get(target, name) as () => unknown, target, args);
        };
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Fills every state but active with a few jobs. */
async function fill(bench: Bench, jobs = 30): Promise<void> {
  const queue = bench.queue();
  const worker = bench.worker(
    async (job) => {
      await job.log("line");
      if (job.name === "bad") throw new Error("bad");
    },
    { concurrency: 10 },
  );
  const names = Array.from({ length: jobs }, (_, n) => (n % 2 === 0 ? "ok" : "bad"));
  await queue.addBulk(names.map((name) => ({ name, data: 1 })));
  await until("all ended", async () => {
    const { completed, failed } = await queue.getJobCounts();
    return completed + failed === jobs;
  });
  await worker.close();
  const opts = [{}, { priority: 2 }, { delay: 600_000 }];
  await queue.addBulk(names.map((_, n) => ({ name: "x", data: n, opts: opts[n % 3] ?? {} })));
}

describe.each(ENGINES)("obliterate on %s", (engine) => {
  async function open(strict = false): Promise<Bench> {
    const { url } = await sharedServer(engine);
    if (!strict) return Bench.on(url);
    const made = await makeStrict(url);
    onTestFinished(() => made.close());
    return Bench.on(url, made);
  }

  test.each([false, true])(
    "leaves the stamp, the settings and nothing else; strict %s",
    async (strict) => {
      const bench = await open(strict);
      await fill(bench);
      const queue = bench.queue();
      await bench.client.hset(bench.key("meta"), "concurrency", "7");
      await queue.pause();
      await queue.obliterate();
      const keys = await bench.client.keys(`emq:{${bench.name}}:*`);
      expect(keys.sort()).toEqual([`emq:{${bench.name}}:meta`, bench.key("meta")]);
      const meta = await bench.client.hgetall(bench.key("meta"));
      expect(Object.keys(meta).sort()).toEqual(["concurrency", "opened", "version"]);
      const seen: string[] = [];
      bench.worker(async ({ id }) => void seen.push(id));
      await queue.add("x", 1, { jobId: "new" });
      await until("the queue works again", () => seen.includes("new"));
    },
  );

  test("refuses while jobs are active and writes nothing; force ends their leases", async () => {
    const bench = await open();
    const queue = bench.queue();
    const { opened, open: release } = gate();
    const worker = bench.worker(() => opened);
    const lost: string[] = [];
    worker.on("lost", (job) => lost.push(job.id));
    const job = await queue.add("x", 1, { jobId: "runs" });
    await until("it runs", () => job.isActive());
    expect(await refusal(queue.obliterate())).toMatchObject({
      code: "EMQSTATE",
      message: expect.stringContaining("active"),
    });
    expect(await bench.client.hexists(bench.key("meta"), "closing")).toBe(0);
    await queue.obliterate({ force: true });
    expect(await queue.getJobs()).toEqual([]);
    release();
    await until("its end was refused", () => lost.includes("runs"));
    expect(await queue.getJobState("runs")).toBe("unknown");
    expect(await refusal(() => queue.obliterate({ forced: true } as object))).toMatchObject({
      option: "options.forced",
    });
  });

  test("schedulers and flows that were not committed go with force, and refuse without", async () => {
    const bench = await open(true);
    const queue = bench.queue();
    await queue.add("x", 1);
    const ids = Array.from({ length: 1_100 }, (_, n) => `daily ${n}`);
    const fill = bench.client.multi();
    for (const id of ids) fill.zadd(bench.key("schedulers"), 9e12, id);
    for (const id of ids) fill.hset(bench.key(`sched:${id}`), "every", 5);
    for (const id of ids) fill.zadd(bench.key("staged"), 1, id);
    await fill.exec();
    expect(await refusal(queue.obliterate())).toMatchObject({
      code: "EMQSTATE",
      message: expect.stringMatching(/staged|schedulers/),
    });
    expect((await refusal(queue.obliterate())).message).toContain("call obliterate with force");
    expect(await bench.client.zcard(bench.key("schedulers"))).toBe(1_100);
    await queue.obliterate({ force: true });
    const keys = await bench.client.keys(`emq:{${bench.name}}:*`);
    expect(keys.sort()).toEqual([`emq:{${bench.name}}:meta`, bench.key("meta")]);
    await queue.add("x", 2);
    expect(await queue.count()).toBe(1);
  });

  test("a call that dies at any point is finished by the next, and says so until then", async () => {
    const { url } = await sharedServer(engine);
    let closings = 0;
    for (let calls = 1; ; calls += 1) {
      const bench = Bench.on(url);
      await fill(bench, 6);
      const driver = await makeDriver(url);
      onTestFinished(() => driver.close());
      const half = Bench.on(url, dying(driver, calls));
      const dead = half.queue({ retryTime: 0, commandTimeout: 2_000 }, bench.name);
      const died = await dead.obliterate().then(
        () => false,
        () => true,
      );
      const queue = bench.queue();
      if (await bench.client.hexists(bench.key("meta"), "closing")) {
        closings += 1;
        expect(await refusal(queue.add("x", 1))).toMatchObject({
          code: "EMQSTATE",
          message: expect.stringContaining("closing"),
        });
        const retried = await refusal(queue.retryJobs()).catch(() => null);
        if (retried) expect(retried).toMatchObject({ code: "EMQSTATE" });
      }
      await queue.obliterate();
      const keys = await bench.client.keys(`emq:{${bench.name}}:*`);
      expect(keys.sort()).toEqual([`emq:{${bench.name}}:meta`, bench.key("meta")]);
      await queue.add("x", 1);
      if (!died) break;
    }
    expect(closings).toBeGreaterThan(5);
  });

  test("drain, clean and the others go on where a call died", async () => {
    const { url } = await sharedServer(engine);
    const bench = Bench.on(url);
    const queue = bench.queue();
    const jobs = Array.from({ length: 1_200 }, () => ({
      name: "x",
      data: 1,
      opts: { delay: 600_000 },
    }));
    await queue.addBulk(jobs);
    const driver = await makeDriver(url);
    onTestFinished(() => driver.close());
    const half = Bench.on(url, dying(driver, 8)).queue({ retryTime: 0 }, bench.name);
    await half.promoteJobs({ count: 100 }).catch(() => undefined);
    const { waiting, delayed } = await queue.getJobCounts();
    expect(waiting).toBeGreaterThan(0);
    expect(delayed).toBeGreaterThan(0);
    expect(waiting + delayed).toBe(1_200);
    expect(await queue.promoteJobs()).toBe(delayed);
    const again = await makeDriver(url);
    onTestFinished(() => again.close());
    const dead = Bench.on(url, dying(again, 8)).queue({ retryTime: 0 }, bench.name);
    await dead.drain().catch(() => undefined);
    const left = await queue.count();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(1_200);
    expect(await queue.clean(0, 50, "waiting")).toHaveLength(50);
    expect(await queue.drain()).toBe(left - 50);
    // What the dead process took out and did not bury is the sweep's.
    bench.worker(async () => undefined, { stalledInterval: 200 });
    await until(
      "nothing is left",
      async () => !(await bench.client.keys(bench.key("job:*"))).length,
    );
  });
});
