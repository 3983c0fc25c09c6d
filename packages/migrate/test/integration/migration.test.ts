import {
  countsScript,
  Dispatcher,
  getScript,
  initScript,
  pauseScript,
  stepScript,
} from "@echomq/scripts";
import { sharedServer, uniqueQueue } from "@echomq/testkit";
import { kindKey, stampKey, unitKey } from "@echomq/wire";
import { describe, expect, onTestFinished, test } from "vitest";
import { createMigration } from "../../src/index.js";
import { contentOf, ENGINES, makeDriver, openClient } from "../support/servers.js";
import { makeV1, withQueue } from "../support/v1.js";

const NOW = 4_102_444_800_000;

describe.each(ENGINES)("on %s", (engine) => {
  describe.each(["ioredis", "node-redis"] as const)("with %s", (name) => {
    test("a queue with plain jobs in every state moves whole", async () => {
      const { url } = await sharedServer(engine);
      const queue = uniqueQueue("move");
      await makeV1({ url, queue });
      const client = openClient(url);
      onTestFinished(() => client.disconnect());
      const v1Order = (await client.lrange(`bull:${queue}:wait`, 0, -1)).reverse();
      const ranked = await client.zrange(`bull:${queue}:prioritized`, 0, -1);
      const delayed = await client.zrange(`bull:${queue}:delayed`, 0, -1, "WITHSCORES");
      const hash = await client.hgetall(`bull:${queue}:1`);

      const driver = await makeDriver(url, name);
      onTestFinished(() => driver.close());
      const migration = await createMigration({ source: driver, queue, batch: 7 });
      onTestFinished(() => migration.close());
      const report = await migration.runAll();

      expect(report.reports.map(({ phase }) => phase)).toEqual([
        "drain",
        "plan",
        "fence",
        "copy",
        "verify",
        "commit",
      ]);
      expect(await client.get(stampKey(queue))).toBe("echomq:2.0.0");
      const meta = await client.hgetall(unitKey(queue, "meta"));
      expect(meta).toEqual({
        version: "echomq:2.0.0",
        migrated: report.run,
        source: `bull:${queue}:`,
        extras: "1",
        "events.max": "10000",
      });
      expect(await client.hgetall(kindKey(queue, "job", "1"))).toEqual(hash);

      const dispatcher = await Dispatcher.open(driver, "main");
      onTestFinished(() => dispatcher.close());
      const q = queue;
      expect(await dispatcher.run(countsScript, { q, args: {} })).toEqual({
        waiting: v1Order.length,
        prioritized: 10,
        delayed: 6,
        active: 0,
        completed: 14,
        failed: 2,
        "waiting-children": 0,
        held: 0,
        paused: 0,
      });
      const jobs = await dispatcher.run(getScript, {
        q,
        jobs: ["1", "custom-failed", "a:b:c", "none"],
        args: {},
      });
      expect(jobs.map((job) => job?.state ?? null)).toEqual([
        "completed",
        "failed",
        "waiting",
        null,
      ]);
      expect(await client.lrange(kindKey(queue, "logs", "13"), 0, -1)).toEqual([
        "line 0",
        "line 1",
        "line 2",
      ]);
      expect(await client.smembers(unitKey(queue, "extras"))).toEqual(["13"]);
      expect(await client.hgetall(kindKey(queue, "dedup", "only-once"))).toEqual({ job: "16" });
      expect(await client.pttl(kindKey(queue, "dedup", "only-once"))).toBeGreaterThan(3_500_000);

      // Claimed on v2 in the order v1 would have taken them: wait first, then by priority.
      await dispatcher.run(initScript, { q, args: { now: NOW } });
      const taken = await claimAll(dispatcher, q);
      expect(taken).toEqual([...v1Order, ...ranked]);
      const due = await client.zrange(unitKey(queue, "delayed"), 0, -1, "WITHSCORES");
      expect(due.filter((_, at) => at % 2 === 0)).toEqual(delayed.filter((_, at) => at % 2 === 0));
      expect(due.filter((_, at) => at % 2 === 1).map(Number)).toEqual(
        delayed.filter((_, at) => at % 2 === 1).map((score) => Number(score) / 4096),
      );
      const priorities = await client.hgetall(unitKey(queue, "priorities"));
      expect(Object.keys(priorities)).toHaveLength(10 + 4);
    });
  });

  test("a paused queue stays paused, with its jobs in order", async () => {
    const { url } = await sharedServer(engine);
    const queue = uniqueQueue("paused");
    await makeV1({ url, queue, paused: true });
    const client = openClient(url);
    onTestFinished(() => client.disconnect());
    const order = (await client.lrange(`bull:${queue}:paused`, 0, -1)).reverse();
    const driver = await makeDriver(url);
    onTestFinished(() => driver.close());
    const migration = await createMigration({ source: driver, queue });
    onTestFinished(() => migration.close());
    await migration.runAll();
    const dispatcher = await Dispatcher.open(driver, "main");
    onTestFinished(() => dispatcher.close());
    expect(await claimAll(dispatcher, queue)).toEqual([]);
    await dispatcher.run(pauseScript, { q: queue, args: { paused: 0 } });
    expect((await claimAll(dispatcher, queue)).slice(0, order.length)).toEqual(order);
  });

  test("real v1 clients are refused from the fence on and change nothing", async () => {
    const { url } = await sharedServer(engine);
    const queue = uniqueQueue("refused");
    await makeV1({ url, queue });
    const driver = await makeDriver(url);
    onTestFinished(() => driver.close());
    const migration = await createMigration({ source: driver, queue });
    onTestFinished(() => migration.close());
    await migration.runAll();
    const client = openClient(url);
    onTestFinished(() => client.disconnect());
    const before = await contentOf(client, `*${queue}*`);
    await withQueue({ url, queue }, async (v1) => {
      await expect(v1.add("late", {})).rejects.toThrow(/WRONGTYPE/);
      await expect(v1.addBulk([{ name: "late", data: {} }])).rejects.toThrow(/WRONGTYPE/);
      await expect(v1.pause()).rejects.toThrow(/WRONGTYPE/);
      await v1.drain(true);
      await v1.clean(0, 1_000, "completed");
    });
    const after = await contentOf(client, `*${queue}*`);
    // A refused add has bumped v1's counter and `clean` has told its event, both in an empty place.
    for (const unit of ["id", "events"]) after.delete(`bull:${queue}:${unit}`);
    expect(after).toEqual(before);
  });
});

async function claimAll(dispatcher: Dispatcher, q: string): Promise<string[]> {
  const taken: string[] = [];
  for (;;) {
    const { claimed } = await dispatcher.run(stepScript, {
      q,
      done: [],
      results: [],
      candidates: [],
      args: CLAIM,
    });
    if (claimed.length === 0) return taken;
    taken.push(...claimed.map(({ id }) => id));
  }
}

const CLAIM = {
  now: NOW,
  token: "t",
  deadline: NOW + 60_000,
  claim: 10,
  hints: 0,
  keepCount: 100,
  keepAge: 0,
  rateMax: 0,
  rateMs: 0,
  begun: 0,
} as const;
