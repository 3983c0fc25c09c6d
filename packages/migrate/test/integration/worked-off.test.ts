import { Queue, Worker } from "@echomq/core";
import { uniqueQueue } from "@echomq/testkit";
import type { Queue as Bull, JobsOptions } from "bullmq";
import { describe, expect, onTestFinished, test } from "vitest";
import { ENGINES, openBench } from "../support/servers.js";
import { makeV1, withQueue } from "../support/v1.js";

/** Member of the marker that stands for the next due time. */
const DUE = "\u0001";

const idOf = ({ id }: { readonly id: string }): string => id;

function jobs(
  count: number,
  opts: JobsOptions = {},
): { name: string; data: object; opts: JobsOptions }[] {
  return Array.from({ length: count }, (_, n) => ({ name: "a", data: { n }, opts }));
}

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

  test("the commit wakes workers as an add does: nothing is left for a doctor", async () => {
    const bench = await openBench(engine);
    const { client } = bench;
    const none = async (): Promise<void> => undefined;
    const cases: readonly (readonly [
      string,
      (v1: Bull) => Promise<unknown>,
      (v2: Queue) => unknown,
    ])[] = [
      [
        "waiting",
        (v1) => v1.addBulk(jobs(20)),
        async (v2) => (await v2.getWaiting(0, 15)).map(idOf),
      ],
      [
        "ranked",
        (v1) => v1.addBulk(jobs(20, { priority: 3 })),
        async (v2) => (await v2.getPrioritized(0, 15)).map(idOf),
      ],
      ["delayed", (v1) => v1.addBulk(jobs(3, { delay: 3_600_000 })), () => [DUE]],
      [
        "both",
        (v1) => v1.addBulk([...jobs(1), ...jobs(1, { delay: 3_600_000 })]),
        () => ["1", DUE],
      ],
      ["none", none, () => []],
      [
        "paused",
        async (v1) => {
          await v1.addBulk(jobs(3));
          await v1.pause();
        },
        () => [],
      ],
    ];
    for (const [name, fill, wanted] of cases) {
      const queue = uniqueQueue(name);
      await withQueue({ url: bench.url, queue }, async (v1) => {
        await v1.waitUntilReady();
        await fill(v1);
      });
      const migration = await bench.migration({ queue });
      await migration.fence();
      await migration.copy();
      await migration.verify();
      const marker = `emq:{${queue}}:v2:marker`;
      expect({ name, early: await client.zcard(marker) }).toEqual({ name, early: 0 });
      await migration.commit();
      const v2 = new Queue(queue, { connection: bench.driver });
      onTestFinished(() => v2.close());
      const armed = await client.zrange(marker, 0, -1, "WITHSCORES");
      const members = armed.filter((_, at) => at % 2 === 0);
      expect({ name, members: members.sort() }).toEqual({
        name,
        members: [...((await wanted(v2)) as string[])].sort(),
      });
      const due = await client.zrange(`emq:{${queue}}:v2:delayed`, 0, 0, "WITHSCORES");
      if (members.includes(DUE)) expect(armed.at(armed.indexOf(DUE) + 1)).toBe(due[1]);
      expect({ name, ...(await v2.doctor()) }).toMatchObject({ name, ok: true, findings: [] });
      // Looking has opened nothing: the way back stands.
      await migration.rollback();
      expect(await client.keys(`emq:{${queue}}:*`)).toEqual([]);
    }
  });
});
