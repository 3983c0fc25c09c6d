import { uniqueQueue } from "@echomq/testkit";
import { FlowProducer, Worker } from "bullmq";
import { describe, expect, onTestFinished, test } from "vitest";
import { contentOf, ENGINES, openBench, refusalOf } from "../support/servers.js";
import { connectionOf, makeV1, withQueue } from "../support/v1.js";

describe.each(ENGINES)("fence on %s", (engine) => {
  test("refuses while a job is active and changes nothing", async () => {
    const bench = await openBench(engine);
    const queue = uniqueQueue("active");
    await withQueue({ url: bench.url, queue }, (v1) => v1.add("slow", {}));
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const worker = new Worker(queue, () => held, {
      connection: connectionOf(bench.url),
      name: "w7",
    });
    await new Promise<void>((resolve) => worker.on("active", () => resolve()));
    const before = await contentOf(bench.client, `*${queue}*`);
    const migration = await bench.migration({ queue });

    const late = await refusalOf(migration.drain({ deadlineMs: 0 }));
    expect(late).toMatchObject({ code: "MIGRATION_REFUSED", reason: "ACTIVE" });
    expect(late.message).toContain(
      "Jobs that are active hold v1 locks and must finish on v1 workers first.",
    );
    expect(late.details).toMatchObject({ count: 1, jobs: [{ id: "1" }], withoutLock: [] });
    const both = await refusalOf(migration.fence());
    expect(both).toMatchObject({
      reason: "ACTIVE",
      details: { reasons: ["ACTIVE", "WORKERS_CONNECTED"] },
      next: `npx -p @echomq/migrate -p ioredis echomq-migrate drain --queue ${queue}`,
    });
    expect(both.message).toContain("1 job is still active: 1.");
    expect(both.message).toContain("1 v1 worker is still connected");
    expect((await refusalOf(migration.fence({ allowConnected: true }))).reason).toBe("ACTIVE");
    expect((await migration.status()).clients).toMatchObject([{ kind: "worker", name: "w7" }]);
    const after = await contentOf(bench.client, `*${queue}*`);
    for (const dump of [before, after]) {
      // The worker renews its lock and its check meanwhile.
      for (const unit of ["1:lock", "stalled-check", "stalled"])
        dump.delete(`bull:${queue}:${unit}`);
    }
    expect(after).toEqual(before);

    release();
    await worker.close();
    await expect(migration.drain()).resolves.toMatchObject({ phase: "drain" });
    await expect(migration.fence()).resolves.toMatchObject({ already: false });
    await expect(migration.fence()).resolves.toMatchObject({ already: true });
  });

  test("says to start a worker when an active job has no lock", async () => {
    const bench = await openBench(engine);
    const queue = uniqueQueue("orphaned");
    await withQueue({ url: bench.url, queue }, (v1) => v1.add("lost", {}));
    await bench.client.rpoplpush(`bull:${queue}:wait`, `bull:${queue}:active`);
    const migration = await bench.migration({ queue });
    const error = await refusalOf(migration.drain({ deadlineMs: 0 }));
    expect(error.message).toContain("no v1 worker is connected: start one");
    expect(error.details).toMatchObject({ withoutLock: ["1"] });
  });

  test("the script itself refuses when a job became active after the checks", async () => {
    const bench = await openBench(engine);
    const queue = uniqueQueue("race");
    await makeV1({ url: bench.url, queue });
    const migration = await bench.migration({ queue });
    const plan = await migration.plan();
    await bench.client.lpush(`bull:${queue}:active`, "77");
    const before = await contentOf(bench.client, `*${queue}*`);
    expect((await refusalOf(migration.fence({ plan }))).reason).toBe("ACTIVE");
    const after = await contentOf(bench.client, `*${queue}*`);
    after.delete(`{emq}:migration:${queue}`);
    expect(after).toEqual(before);
  });

  test("flows, schedulers and ids that v2 refuses are named and nothing is dropped", async () => {
    const bench = await openBench(engine);
    const connection = connectionOf(bench.url);
    const flow = uniqueQueue("flow");
    const producer = new FlowProducer({ connection });
    await producer.add({ name: "p", queueName: flow, children: [{ name: "c", queueName: flow }] });
    await producer.close();
    const flows = await bench.migration({ queue: flow });
    const plan = await flows.plan();
    expect(plan.ok).toBe(false);
    expect(new Set(plan.blockers.map(({ reason }) => reason))).toEqual(new Set(["FLOWS"]));
    expect((await refusalOf(flows.fence())).reason).toBe("FLOWS");

    const scheduled = uniqueQueue("scheduled");
    await withQueue({ url: bench.url, queue: scheduled }, (v1) =>
      v1.upsertJobScheduler("tick", { every: 3_600_000 }, { name: "tick" }),
    );
    const schedulers = await bench.migration({ queue: scheduled });
    expect((await refusalOf(schedulers.fence())).reason).toBe("SCHEDULERS");

    const odd = uniqueQueue("odd");
    const id = `${"x".repeat(513)}`;
    await withQueue({ url: bench.url, queue: odd }, async (v1) => {
      await v1.add("long", {}, { jobId: id });
      await v1.add("line", {}, { jobId: "a\nb" });
    });
    const ids = await bench.migration({ queue: odd });
    const error = await refusalOf(ids.fence());
    expect(error).toMatchObject({ reason: "IDS" });
    expect(JSON.stringify(error.details)).toContain(id);
    expect(JSON.stringify(error.details)).toContain("a\\\\nb");
    expect(await bench.client.exists(`emq:{${odd}}:meta`)).toBe(0);
  });

  test("a queue name that v2 refuses moves under another one", async () => {
    const bench = await openBench(engine);
    const queue = `${uniqueQueue("name")}{odd`;
    await withQueue({ url: bench.url, queue }, (v1) => v1.add("a", {}));
    const error = await refusalOf(bench.migration({ queue }));
    expect(error).toMatchObject({ reason: "NAME" });
    expect(error.message).toContain("--as");
    const as = uniqueQueue("renamed");
    const migration = await bench.migration({ queue, as });
    await migration.runAll();
    expect(await bench.client.lrange(`emq:{${as}}:v2:wait`, 0, -1)).toEqual(["1"]);
  });

  test("a v2 queue, an empty name and a foreign key are refused", async () => {
    const bench = await openBench(engine);
    const taken = uniqueQueue("taken");
    await makeV1({ url: bench.url, queue: taken });
    await bench.client.set(`emq:{${taken}}:meta`, "echomq:2.0.0");
    expect((await refusalOf((await bench.migration({ queue: taken })).fence())).reason).toBe(
      "TARGET_TAKEN",
    );
    const none = await bench.migration({ queue: uniqueQueue("none") });
    expect((await refusalOf(none.fence())).reason).toBe("NOTHING");
    const foreign = uniqueQueue("foreign");
    await bench.client.set(`emq:{${foreign}}:meta`, "something else");
    expect((await refusalOf((await bench.migration({ queue: foreign })).fence())).reason).toBe(
      "FOREIGN",
    );
  });

  test("a queue at prefix emq with a braced name moves in place and back", async () => {
    const bench = await openBench(engine);
    const name = uniqueQueue("place");
    const queue = `{${name}}`;
    await makeV1({ url: bench.url, queue, prefix: "emq" });
    const before = await contentOf(bench.client, `*${name}*`);
    const migration = await bench.migration({ queue, prefix: "emq", batch: 9 });
    expect((await migration.plan()).inPlace).toBe(true);
    await migration.runAll();
    expect(await bench.client.get(`emq:${queue}:meta`)).toBe("echomq:2.0.0");
    await withQueue({ url: bench.url, queue, prefix: "emq" }, (v1) =>
      expect(v1.add("late", {})).rejects.toThrow(/WRONGTYPE/),
    );
    await migration.rollback();
    const after = await contentOf(bench.client, `*${name}*`);
    after.delete(`{emq}:migration:${name}`);
    expect(after).toEqual(before);
    await (await bench.migration({ queue, prefix: "emq" })).runAll({ purgeV1: true });
    const left = await bench.client.keys(`*${name}*`);
    expect(left.filter((key) => !key.startsWith(`emq:${queue}:v2:`)).sort()).toEqual([
      `emq:${queue}:meta`,
      `{emq}:migration:${name}`,
    ]);
  });

  test("a tool that was overtaken by another run writes nothing more", async () => {
    const bench = await openBench(engine);
    const queue = uniqueQueue("overtaken");
    await makeV1({ url: bench.url, queue, waiting: 60 });
    let halt = (): void => undefined;
    const halted = new Promise<void>((resolve) => {
      halt = resolve;
    });
    let copied = 0;
    // Other processes roll back and fence anew while this one is between two batches.
    const slow = await bench.migration({
      queue,
      batch: 5,
      onProgress: ({ phase }) => {
        if (phase === "copy") copied += 1;
        if (copied === 3) halt();
      },
    });
    await slow.fence();
    const copying = slow.copy();
    copying.catch(() => undefined);
    await halted;
    const other = await bench.migration({ queue });
    await other.rollback();
    const next = await bench.migration({ queue });
    await next.fence();
    const error = await refusalOf(copying);
    expect(error.reason).toBe("OVERTAKEN");
    const before = await contentOf(bench.client, `*${queue}*`);
    expect((await refusalOf(slow.copy())).reason).toBe("OVERTAKEN");
    expect((await refusalOf(slow.rollback())).reason).toBe("OVERTAKEN");
    expect(await contentOf(bench.client, `*${queue}*`)).toEqual(before);
    await next.copy();
    await next.verify();
    onTestFinished(() => undefined);
  });
});
