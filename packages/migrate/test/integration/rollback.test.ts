import { Dispatcher, initScript } from "@echomq/scripts";
import { type KeyDump, uniqueQueue } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Migration } from "../../src/index.js";
import { contentOf, ENGINES, openBench, refusalOf } from "../support/servers.js";
import { makeV1, withQueue, workOff } from "../support/v1.js";

type Step = (migration: Migration) => Promise<unknown>;

const STEPS: readonly (readonly [string, readonly Step[]])[] = [
  ["fence", [(m) => m.fence()]],
  ["a part of copy", [(m) => m.fence(), (m) => m.copy().catch(() => undefined)]],
  ["copy", [(m) => m.fence(), (m) => m.copy()]],
  ["verify", [(m) => m.fence(), (m) => m.copy(), (m) => m.verify()]],
  ["commit", [(m) => m.runAll()]],
];

describe.each(ENGINES)("rollback on %s", (engine) => {
  test.each(STEPS)("after %s gives v1 back byte for byte", async (name, steps) => {
    const bench = await openBench(engine);
    const queue = uniqueQueue("back");
    await makeV1({ url: bench.url, queue });
    const before = await contentOf(bench.client, `*${queue}*`);
    const stop = new AbortController();
    const migration = await bench.migration({
      queue,
      batch: 5,
      signal: stop.signal,
      onProgress: ({ phase, part }) => {
        if (name === "a part of copy" && phase === "copy" && part === "prioritized") stop.abort();
      },
    });
    for (const step of steps) await step(migration);
    const back = await bench.migration({ queue });
    await back.rollback();
    const after = await contentOf(bench.client, `*${queue}*`);
    after.delete(`{emq}:migration:${queue}`);
    expect(stable(after)).toEqual(stable(before));
    await workOff({ url: bench.url, queue });
    await withQueue({ url: bench.url, queue }, async (v1) => {
      expect(await v1.getJobCounts("wait", "prioritized", "completed")).toMatchObject({
        wait: 0,
        prioritized: 0,
        completed: 51,
      });
    });
    expect((await refusalOf(back.rollback())).reason).toBe("NOT_FENCED");
  });

  test("is refused once a v2 client has opened the queue, and after a purge", async () => {
    const bench = await openBench(engine);
    const queue = uniqueQueue("opened");
    await makeV1({ url: bench.url, queue });
    const migration = await bench.migration({ queue });
    await migration.runAll();
    const dispatcher = await Dispatcher.open(bench.driver, "main");
    onTestFinished(() => dispatcher.close());
    await dispatcher.run(initScript, { q: queue, args: { now: 1 } });
    const before = await contentOf(bench.client, `*${queue}*`);
    expect((await refusalOf(migration.rollback())).reason).toBe("OPENED");
    expect(await contentOf(bench.client, `*${queue}*`)).toEqual(before);

    const other = uniqueQueue("purged");
    await makeV1({ url: bench.url, queue: other });
    const purged = await bench.migration({ queue: other });
    await purged.runAll({ purgeV1: true });
    expect((await bench.client.keys(`bull:${other}:*`)).sort()).toEqual([`bull:${other}:meta`]);
    expect((await refusalOf(purged.rollback())).reason).toBe("PURGED");
  });

  test("a journal that a crash left without its stamp does not stand in the way of a new run", async () => {
    const bench = await openBench(engine);
    for (const phase of ["rollback", "copy", "fence", "remove"]) {
      const queue = uniqueQueue("left");
      await makeV1({ url: bench.url, queue });
      await bench.client.hset(`{emq}:migration:${queue}`, { run: "earlier", phase });
      const migration = await bench.migration({ queue });
      const { run } = await migration.runAll();
      expect(run).not.toBe("earlier");
      const { journal } = await migration.status();
      expect(journal).toMatchObject({ run, phase: "committed" });
    }
  });

  test("a run id may be used again after its rollback", async () => {
    const bench = await openBench(engine);
    const queue = uniqueQueue("again");
    await makeV1({ url: bench.url, queue });
    for (let round = 0; round < 2; round += 1) {
      const migration = await bench.migration({ queue, run: "mine" });
      await migration.runAll();
      expect((await migration.status()).journal).toMatchObject({ run: "mine", phase: "committed" });
      await migration.rollback();
      expect((await migration.status()).at).toBe("rolled-back");
    }
  });

  test("names what a v1 client wrote since the fence before it replaces anything", async () => {
    const bench = await openBench(engine);
    const queue = uniqueQueue("intruder");
    await makeV1({ url: bench.url, queue });
    const before = await contentOf(bench.client, `bull:${queue}:*`);
    const migration = await bench.migration({ queue });
    await migration.fence();
    await bench.client.rpush(`bull:${queue}:wait`, "smuggled");
    const error = await refusalOf(migration.rollback());
    expect(error).toMatchObject({ reason: "INTRUDER", details: { key: `bull:${queue}:wait` } });
    expect((await migration.status()).intruders).toEqual(["wait"]);
    await migration.rollback({ overwrite: true });
    expect(await contentOf(bench.client, `bull:${queue}:*`)).toEqual(before);
  });
});

/** Without what v1 lets run out by itself. */
function stable(dump: Map<string, KeyDump>): Map<string, KeyDump> {
  return new Map([...dump].filter(([key]) => !key.endsWith(":stalled-check")));
}
