import { Queue, Worker } from "@echomq/core";
import { uniqueQueue } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { ENGINES, openBench } from "../support/servers.js";
import { makeV1 } from "../support/v1.js";

describe.each(ENGINES)("the other half on %s", (engine) => {
  test("v2 is kept out until the commit, and then works off every job once", async () => {
    const bench = await openBench(engine);
    const queue = uniqueQueue("both");
    await makeV1({ url: bench.url, queue });
    const { client } = bench;
    const connection = bench.driver;
    const v2 = new Queue(queue, { connection });
    onTestFinished(() => v2.close());
    const refusal = async (): Promise<unknown> =>
      v2.add("early", {}).then(
        () => "added",
        (error: { code?: string }) => error.code,
      );
    const order = (await client.lrange(`bull:${queue}:wait`, 0, -1)).reverse();
    const ranked = await client.zrange(`bull:${queue}:prioritized`, 0, -1);

    expect(await refusal()).toBe("V1_KEYSPACE");
    const migration = await bench.migration({ queue });
    await migration.fence();
    expect(await refusal()).toBe("MIGRATION_IN_PROGRESS");
    await migration.copy();
    await migration.verify();
    expect(await refusal()).toBe("MIGRATION_IN_PROGRESS");
    await migration.commit();

    const seen: string[] = [];
    let finished = (): void => undefined;
    const all = new Promise<void>((resolve) => {
      finished = resolve;
    });
    const worker = new Worker(
      queue,
      async (job) => {
        seen.push(job.id);
        if (seen.length === order.length + ranked.length) finished();
        return { on: "v2" };
      },
      { connection },
    );
    worker.on("error", () => undefined);
    await all;
    await worker.close();
    expect(seen).toEqual([...order, ...ranked]);
    expect(await v2.getJobCounts()).toMatchObject({
      waiting: 0,
      prioritized: 0,
      delayed: 6,
      active: 0,
      completed: 14 + seen.length,
      failed: 2,
    });
    const early = await v2.getJob("1");
    expect(early?.returnvalue).toEqual({ seen: { n: 0 } });
    const worked = await v2.getJob(order[0] ?? "");
    expect(worked?.returnvalue).toEqual({ on: "v2" });
    await expect(migration.rollback()).rejects.toMatchObject({ reason: "OPENED" });
  });
});
