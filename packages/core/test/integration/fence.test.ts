import { dumpAll, sharedServer } from "@echomq/testkit";
import { Queue as V1Queue } from "bullmq";
import { describe, expect, onTestFinished, test } from "vitest";
import { Bench, begunBy, ENGINES, gate } from "../support/bench.js";
import { refusal, settles, until } from "../support/until.js";

/** A real v1 queue with jobs in several states. */
async function v1Queue(bench: Bench, prefix: string, name = bench.name): Promise<void> {
  const queue = new V1Queue(name, { connection: { url: bench.url }, prefix });
  onTestFinished(() => queue.close());
  await queue.add("a", { n: 1 });
  await queue.add("b", { n: 2 }, { delay: 3_600_000 });
}

/** Everything but what other tests on the server write. */
async function ours(bench: Bench): Promise<object> {
  const all = await dumpAll(bench.client);
  return Object.fromEntries([...all].filter(([key]) => key.includes(bench.name)));
}

async function refused(bench: Bench, code: string): Promise<void> {
  const reserve = await bench.client.exists("{emq}:nodes");
  const before = await ours(bench);
  const queue = bench.queue();
  expect(await refusal(queue.add("x", {}))).toMatchObject({ code, name: "FenceError" });
  expect(await refusal(queue.addBulk([{ name: "x", data: 1 }]))).toMatchObject({ code });
  expect(await refusal(queue.getJob("1"))).toMatchObject({ code });
  expect(await refusal(queue.getJobCounts())).toMatchObject({ code });
  expect(await refusal(queue.pause())).toMatchObject({ code });
  expect(await refusal(queue.waitUntilReady())).toMatchObject({ code });
  const ran: unknown[] = [];
  const worker = bench.worker((job) => void ran.push(job.id), { autorun: false });
  const told: unknown[] = [];
  worker.on("error", (error) => told.push((error as { code?: string }).code));
  expect(await refusal(worker.run())).toMatchObject({ code, queue: bench.name });
  expect(told).toEqual([code]);
  await Promise.all([worker.close(), queue.close()]);
  expect(ran).toEqual([]);
  expect(await ours(bench)).toEqual(before);
  if (reserve === 0) expect(await bench.client.exists("{emq}:nodes")).toBe(0);
}

describe.each(ENGINES)("the fence on %s", (engine) => {
  test.each(["bull", "{bull}", "emq", "mine"])(
    "a real v1 keyspace at prefix %s is refused",
    async (prefix) => {
      const bench = await Bench.own(engine);
      await v1Queue(bench, prefix);
      if (prefix === "mine") {
        const { name } = bench;
        const queue = bench.queue({ v1Prefixes: ["mine"] }, name);
        expect(await refusal(queue.add("x", {}))).toMatchObject({ code: "V1_KEYSPACE" });
        return;
      }
      await refused(bench, "V1_KEYSPACE");
    },
  );

  test("a v1 queue whose name is braced, as on a cluster, is refused", async () => {
    const bench = await Bench.own(engine);
    await v1Queue(bench, "bull", `{${bench.name}}`);
    await refused(bench, "V1_KEYSPACE");
  });

  test("a v1 keyspace without a version is refused", async () => {
    const bench = await Bench.own(engine);
    await v1Queue(bench, "bull");
    await bench.client.hdel(`bull:${bench.name}:meta`, "version");
    await refused(bench, "V1_KEYSPACE");
    await bench.client.del(`bull:${bench.name}:meta`);
    await refused(bench, "V1_KEYSPACE");
  });

  test.each([
    ["echomq:3.0.0", "MAJOR_MISMATCH"],
    ["echomq:1.9.9", "MAJOR_MISMATCH"],
    ["somebody:else", "FOREIGN_VERSION"],
    ["", "FOREIGN_VERSION"],
    ["echomq:migrating:r1:copy", "MIGRATION_IN_PROGRESS"],
  ])("a stamp %j is refused as %s", async (stamp, code) => {
    const bench = await Bench.own(engine);
    await bench.client.set(`emq:{${bench.name}}:meta`, stamp);
    await refused(bench, code);
  });

  test("a reserve of a future major is refused", async () => {
    const bench = await Bench.own(engine);
    await bench.client.set("{emq}:version", "echomq:3.0.0");
    await refused(bench, "MAJOR_MISMATCH");
  });

  test("a v1 HASH in the stamp's place is refused", async () => {
    const bench = await Bench.own(engine);
    await bench.client.hset(`emq:{${bench.name}}:meta`, "version", "bullmq:5.65.1");
    await refused(bench, "V1_KEYSPACE");
    await bench.client.hset(bench.key("meta"), "version", "echomq:2.0.0");
    await refused(bench, "V1_INTRUSION");
  });

  test("a newer minor is worked on", async () => {
    const bench = Bench.on((await sharedServer(engine)).url);
    await bench.client.set(`emq:{${bench.name}}:meta`, "echomq:2.7.3");
    const queue = bench.queue();
    await queue.add("x", {});
    bench.worker(() => undefined);
    await until("it is done", async () => (await bench.completed()) === 1);
    expect(await bench.client.get(`emq:{${bench.name}}:meta`)).toBe("echomq:2.7.3");
  });

  test("a reader creates nothing on an empty queue, nor after FLUSHALL", async () => {
    const bench = await Bench.own(engine);
    const queue = bench.queue();
    const look = async (): Promise<void> => {
      await queue.waitUntilReady();
      expect(await queue.getJob("1")).toBe(null);
      expect(await queue.isPaused()).toBe(false);
      expect(Object.values(await queue.getJobCounts())).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
      expect(await dumpAll(bench.client)).toEqual(new Map());
    };
    await look();
    const job = await queue.add("x", {});
    expect(await job.getState()).toBe("waiting");
    await bench.client.flushall();
    await look();
    expect(await job.getState()).toBe("unknown");
    await queue.add("x", {});
    expect(await queue.getJobCounts()).toMatchObject({ waiting: 1 });
  });

  test.each(["busy", "idle"])(
    "a migration that begins under a %s worker ends it; nothing more is written",
    async (state) => {
      const bench = await Bench.own(engine);
      const queue = bench.queue();
      const busy = state === "busy";
      let begun = 0;
      const ended = gate();
      const signals: unknown[] = [];
      const worker = bench.worker(
        async (_job, { signal }) => {
          begun += 1;
          signal.addEventListener("abort", () =>
            signals.push((signal.reason as { code?: string }).code),
          );
          await ended.opened;
          return "late";
        },
        { concurrency: 2 },
      );
      const codes: unknown[] = [];
      worker.on("error", (error) => codes.push((error as { code?: string }).code));
      const closed = new Promise<void>((resolve) => worker.once("closed", resolve));
      await worker.waitUntilReady();
      if (busy) {
        await queue.addBulk(Array.from({ length: 5 }, (_, n) => ({ name: "x", data: n })));
        await until("two run", () => begun === 2);
      }
      await bench.client.set(`emq:{${bench.name}}:meta`, "echomq:migrating:r1:fence");
      const before = await ours(bench);
      if (busy) ended.open();
      await settles("the end of the worker", closed);
      expect(codes.at(-1)).toBe("MIGRATION_IN_PROGRESS");
      expect(await ours(bench)).toEqual(before);
      expect(await refusal(queue.add("x", {}))).toMatchObject({ code: "MIGRATION_IN_PROGRESS" });
      expect(await ours(bench)).toEqual(before);
      if (busy) expect(await bench.client.llen(bench.key("wait"))).toBe(3);
      await settles("a second close", worker.close());
      // The migration went back: the jobs are whole.
      await bench.client.set(`emq:{${bench.name}}:meta`, "echomq:2.0.0");
      if (!busy) return;
      expect(await queue.getJobCounts()).toMatchObject({ waiting: 3, active: 2 });
    },
  );

  test("a worker whose slots are all taken by long jobs learns of a migration too", async () => {
    const bench = await Bench.own(engine);
    const queue = bench.queue();
    const codes: unknown[] = [];
    const worker = bench.worker(
      (_job, { signal }) =>
        new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => {
            codes.push((signal.reason as { code?: string }).code);
            resolve();
          });
        }),
      { lockDuration: 400 },
    );
    const closed = new Promise<void>((resolve) => worker.once("closed", resolve));
    const begun = begunBy(worker);
    const job = await queue.add("x", {});
    await until("it runs", () => begun() === 1);
    await bench.client.set(`emq:{${bench.name}}:meta`, "echomq:migrating:r1:fence");
    await settles("the end of the worker", closed);
    expect(codes).toEqual(["MIGRATION_IN_PROGRESS"]);
    expect(await bench.client.exists(bench.key(`job:${job.id}`))).toBe(1);
    expect(await bench.client.zcard(bench.key("active"))).toBe(1);
  });
});
