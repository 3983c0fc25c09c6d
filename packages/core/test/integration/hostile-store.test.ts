import { sharedServer } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { Bench, begunBy, gate } from "../support/bench.js";
import { settles, until } from "../support/until.js";

async function open(): Promise<Bench> {
  return Bench.on((await sharedServer("redis")).url);
}

describe("what stands in Redis may be anything", () => {
  test.each([
    ["an empty hash of unknown fields", { other: "x" }],
    ["no name", { data: "{}" }],
  ])("%s: the lease is cleared and the worker goes on", async (_what, fields) => {
    const bench = await open();
    const queue = bench.queue();
    await queue.add("first", {});
    await bench.client.hset(bench.key("job:ghost"), fields);
    await bench.client.lpush(bench.key("wait"), "ghost", "nothing-at-all");
    await queue.add("last", {});
    const ran: string[] = [];
    bench.worker((job) => void ran.push(job.name), { concurrency: 2 });
    await until("the others ran", () => ran.length === 2);
    await until("no lease is left", async () => (await queue.getJobCounts()).active === 0);
  });

  test.each(["-5", "1.5", "1e300", "NaN", "9007199254740993", "0x10", " 3 ", "{}", ""])(
    "counters that read %j end their job all the same",
    async (value) => {
      const bench = await open();
      const queue = bench.queue();
      const ran: unknown[] = [];
      const odd = await queue.add("odd", {});
      await bench.client.hset(bench.key(`job:${odd.id}`), {
        atm: value,
        ats: value,
        stc: value,
        delay: value,
        priority: value,
        timestamp: value,
        opts: value,
        stacktrace: value,
        progress: value,
      });
      const worker = bench.worker((job) => {
        ran.push(job.id);
        throw new Error("no");
      });
      await until("it is failed", async () => (await queue.getJobCounts()).failed === 1);
      expect(ran.length).toBe(1);
      const job = await queue.getJob(odd.id);
      expect(Number.isSafeInteger(job?.attemptsMade)).toBe(true);
      expect(JSON.parse(JSON.stringify(job)).id).toBe(odd.id);
      await worker.close();
    },
  );

  test("options nested deeper than a stack is: the job runs, and so do those beside it", async () => {
    const bench = await open();
    const queue = bench.queue();
    const deep = `{"x":${"[".repeat(6_000)}${"]".repeat(6_000)}}`;
    const [odd, ...rest] = await queue.addBulk([1, 2, 3, 4].map((n) => ({ name: "x", data: n })));
    await bench.client.hset(bench.key(`job:${odd?.id}`), "opts", deep);
    expect((await queue.getJobs(["waiting"])).map(({ data }) => data).sort()).toEqual([1, 2, 3, 4]);
    const ran: unknown[] = [];
    bench.worker((job) => void ran.push(job.id), { concurrency: 4 });
    await until("all ran", () => ran.length === 4);
    expect(ran.sort()).toEqual([odd, ...rest].map((job) => job?.id).sort());
    await until("nothing is held", async () => (await queue.getJobCounts()).active === 0);
  });

  test("stored options of other versions: what cannot be read is the default, an unknown backoff ends the job", async () => {
    const bench = await open();
    const queue = bench.queue();
    const opts = [
      '{"attempts":3,"backoff":{"type":"custom","delay":5}}',
      '{"attempts":3,"backoff":"fixed"}',
      '{"attempts":2,"backoff":{"type":"exponential","delay":-1,"jitter":7}}',
      '{"attempts":"many","removeOnFail":{"count":"x"},"keepLogs":3}',
      '{"attempts":0,"backoff":17}',
      "[1,2]",
      "not json",
      '{"attempts":2000,"backoff":{"type":"exponential","delay":0}}',
    ];
    const ids: string[] = [];
    for (const text of opts) {
      const job = await queue.add("x", {}, { delay: 1 });
      await bench.client.hset(bench.key(`job:${job.id}`), {
        opts: text,
        atm: text.includes("2000") ? 1_500 : 0,
      });
      ids.push(job.id);
    }
    bench.worker((job) => {
      if (job.attemptsMade < 1_501) throw new Error("no");
    });
    await until("all have ended", async () => {
      const { failed, completed } = await queue.getJobCounts();
      return failed === opts.length - 1 && completed === 1;
    });
    const made = await Promise.all(ids.map(async (id) => (await queue.getJob(id))?.attemptsMade));
    expect(made).toEqual([1, 1, 2, 1, 1, 1, 1, 1_502]);
    expect((await queue.getJob(ids[0] ?? ""))?.failedReason).toContain("unknown backoff type");
  });

  test("ids that no call can name stop nobody", async () => {
    const bench = await open();
    const queue = bench.queue();
    await queue.add("first", {});
    const bad = ["bad\nid", "x".repeat(600), ""];
    await bench.client.rpush(bench.key("wait"), ...bad);
    await bench.client.zadd(bench.key("marker"), 0, "bad\nid");
    const dead = await queue.add("dead", {});
    await bench.client
      .multi()
      .lrem(bench.key("wait"), 0, dead.id)
      .hset(bench.key("owners"), dead.id, "1:dead!", "wor\u0001se", "1:dead!")
      .zadd(bench.key("active"), -2, "wor\u0001se", -1, dead.id)
      .exec();
    await queue.add("last", {});
    const ran: string[] = [];
    const codes = new Set<unknown>();
    const worker = bench.worker((job) => void ran.push(job.name), {
      lockDuration: 300,
      stalledInterval: 150,
    });
    worker.on("error", (error) => codes.add((error as { code?: string }).code));
    await until("the others ran", () => ran.length === 3);
    expect(ran.sort()).toEqual(["dead", "first", "last"]);
    expect([...codes]).toEqual(["STORED_ID"]);
    await settles("close", worker.close());
  });

  test("a job removed under its run is told as lost", async () => {
    const bench = await open();
    const queue = bench.queue();
    const door = gate();
    const worker = bench.worker(() => door.opened);
    const lost: string[] = [];
    worker.on("lost", (_job, error) => lost.push((error as unknown as { loss: string }).loss));
    const begun = begunBy(worker);
    const job = await queue.add("x", {});
    await until("it runs", () => begun() === 1);
    await bench.client.unlink(bench.key(`job:${job.id}`));
    door.open();
    await until("it is told", () => lost.length === 1);
    expect(lost).toEqual(["removed"]);
    expect(await queue.getJobCounts()).toMatchObject({ active: 0 });
    await settles("close", worker.close());
  });
});
