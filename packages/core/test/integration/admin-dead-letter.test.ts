import { sharedServer } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { Bench, ENGINES, makeDriver, makeStrict } from "../support/bench.js";
import { refusal, until } from "../support/until.js";

const MODES = [
  ["ioredis", (url: string) => makeDriver(url)],
  ["strict mode", makeStrict],
] as const;

describe.each(ENGINES)("dead letters on %s", (engine) => {
  describe.each(MODES)("%s", (_, make) => {
    async function open(): Promise<{ bench: Bench; dead: string }> {
      const { url } = await sharedServer(engine);
      const made = await make(url);
      onTestFinished(() => made.close());
      const bench = Bench.on(url, made);
      return { bench, dead: `${bench.name}-dead` };
    }

    test("a job that fails for good leaves a letter, once, and redrive brings it back", async () => {
      const { bench, dead } = await open();
      const queue = bench.queue();
      const letters = bench.queue({}, dead);
      let broken = true;
      const worker = bench.worker(
        async ({ data }) => {
          if (broken) throw new Error("no luck");
          return data;
        },
        { deadLetter: { queue: dead }, concurrency: 5 },
      );
      const opts = { jobId: "a", attempts: 2, priority: 3 };
      await queue.add("mail", { to: "x" }, opts);
      await queue.add("mail", { to: "y" }, { jobId: "gone", removeOnFail: true });
      await until("both letters came", async () => (await letters.getWaitingCount()) === 2);
      const letter = await letters.getJob(`${bench.name}:a`);
      expect(letter).toMatchObject({ name: "mail", data: { to: "x" }, priority: 0 });
      expect(letter?.opts.source).toMatchObject({
        queue: bench.name,
        id: "a",
        failedReason: "no luck",
        attemptsMade: 2,
        priority: 3,
      });
      await until(
        "the outbox is empty",
        async () => !(await bench.client.exists(bench.key("outbox"))),
      );
      broken = false;
      expect(await letters.redrive({ count: 1 })).toBe(1);
      expect(await letters.redrive()).toBe(1);
      expect(await letters.redrive()).toBe(0);
      await until("both ran", async () => (await queue.getCompletedCount()) === 2);
      expect(await queue.getJob("a")).toMatchObject({ attemptsMade: 1, priority: 3 });
      expect(await queue.getJob("gone")).toMatchObject({ data: { to: "y" } });
      expect(await letters.count()).toBe(0);
      expect(await queue.doctor()).toMatchObject({ ok: true });
      expect(await letters.doctor()).toMatchObject({ ok: true });
      await worker.close();
    });

    test("a retried job and a cancelled one leave no letter; the job's own option goes first", async () => {
      const { bench, dead } = await open();
      const queue = bench.queue({ defaultJobOptions: { deadLetter: { queue: dead } } });
      const letters = bench.queue({}, dead);
      await queue.add("x", 1, { jobId: "cancelled", delay: 600_000 });
      await queue.cancel("cancelled");
      await queue.add("x", 1, { jobId: "again", attempts: 2 });
      await queue.add("bad", 1, { jobId: "bad" });
      let runs = 0;
      const other = `${bench.name}-other`;
      bench.worker(
        async ({ name }) => {
          runs += 1;
          if (name === "bad" || runs === 1) throw new Error("once");
        },
        { deadLetter: { queue: other } },
      );
      await until("the letter came", async () => (await letters.count()) === 1);
      await until(
        "all ended",
        async () => (await queue.count()) + (await queue.getActiveCount()) === 0,
      );
      expect((await letters.getWaiting()).map(({ id }) => id)).toEqual([`${bench.name}:bad`]);
      expect(await bench.client.exists(`emq:{${other}}:meta`)).toBe(0);
      expect(await bench.client.exists(bench.key("outbox"))).toBe(0);
    });

    test("a letter that nobody delivered is delivered by the sweep of another worker", async () => {
      const { bench, dead } = await open();
      const queue = bench.queue();
      const letters = bench.queue({}, dead);
      await queue.add("x", 1);
      const source = {
        queue: bench.name,
        id: "j",
        failedReason: "why",
        attemptsMade: 1,
        opts: "",
        priority: 0,
      };
      const letter = { to: dead, name: "x", data: "1", timestamp: 1, source };
      await bench.client.hset(bench.key("outbox"), "e", JSON.stringify(letter), "junk", "{}");
      await bench.client.zadd(bench.key("outbox-due"), 1, "e", 1, "junk");
      bench.worker(async () => undefined, { stalledInterval: 200 });
      await until("it came", async () => (await letters.count()) === 1);
      await until(
        "the outbox is empty",
        async () => !(await bench.client.exists(bench.key("outbox"))),
      );
      // Delivered again, after a reply that was lost: it stands there already.
      await bench.client.hset(bench.key("outbox"), "e", JSON.stringify(letter));
      await bench.client.zadd(bench.key("outbox-due"), 1, "e");
      await until(
        "it was struck off",
        async () => !(await bench.client.exists(bench.key("outbox"))),
      );
      expect(await letters.count()).toBe(1);
    });

    test("a target that refuses keeps the letter waiting in the outbox", async () => {
      const { bench, dead } = await open();
      const v1 = `bull:${dead}:meta`;
      await bench.client.hset(v1, "version", "bullmq:5.65.1");
      const queue = bench.queue();
      const errors: unknown[] = [];
      bench
        .worker(
          async () => {
            throw new Error("bad");
          },
          { deadLetter: { queue: dead } },
        )
        .on("error", (error) => errors.push((error as { code?: unknown }).code));
      await queue.add("x", 1);
      await until("it was told", () => errors.includes("V1_KEYSPACE"));
      await until("it was put off", async () => {
        const [, due] = await bench.client.zrange(bench.key("outbox-due"), 0, 0, "WITHSCORES");
        const [job] = await queue.getFailed();
        return job?.finishedOn !== undefined && Number(due) > job.finishedOn + 10_000;
      });
      expect(await bench.client.hlen(bench.key("outbox"))).toBe(1);
      expect(await bench.client.exists(`emq:{${dead}}:meta`)).toBe(0);
      await bench.client.del(v1);
      // An obliterated queue owes nothing any more.
      await queue.obliterate();
      expect(await bench.client.exists(bench.key("outbox"), bench.key("outbox-due"))).toBe(0);
    });

    test("what is no letter stays in place, and letters may go elsewhere", async () => {
      const { bench, dead } = await open();
      const letters = bench.queue({}, dead);
      bench.worker(
        async () => {
          throw new Error("bad");
        },
        { deadLetter: { queue: dead } },
      );
      await letters.add("plain", 1, { jobId: "plain" });
      await bench.queue().add("x", 7, { jobId: "j" });
      await until("it came", async () => (await letters.count()) === 2);
      const to = `${bench.name}-else`;
      expect(await letters.redrive({ to })).toBe(1);
      expect(await bench.queue({}, to).getJob("j")).toMatchObject({ data: 7 });
      expect((await letters.getWaiting()).map(({ id }) => id)).toEqual(["plain"]);
      expect(await refusal(() => letters.redrive({ to: "a:b" }))).toMatchObject({
        option: "options.to",
      });
      expect(await refusal(() => letters.redrive({ count: 0 }))).toMatchObject({
        option: "options.count",
      });
    });
  });

  test("a bad option is refused by name", async () => {
    const { url } = await sharedServer(engine);
    const bench = Bench.on(url);
    const worker = (deadLetter: unknown) => () =>
      bench.worker(async () => undefined, { deadLetter } as object);
    expect(await refusal(worker({ queue: "a:b" }))).toMatchObject({ option: "deadLetter.queue" });
    expect(await refusal(worker("dead"))).toMatchObject({ option: "deadLetter" });
    expect(await refusal(worker({ name: "x" }))).toMatchObject({ option: "deadLetter.name" });
  });
});
