import { uniqueQueue } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { ENGINES, openBench, refusalOf } from "../support/servers.js";
import { v1State } from "../support/state.js";
import { makeV1, withQueue } from "../support/v1.js";

describe.each(ENGINES)("repair on %s", (engine) => {
  test("puts back a stamp that was deleted after the commit", async () => {
    const bench = await openBench(engine);
    const queue = uniqueQueue("deleted");
    await makeV1({ url: bench.url, queue });
    const migration = await bench.migration({ queue });
    await migration.runAll();
    await bench.client.del(`emq:{${queue}}:meta`, `bull:${queue}:meta`);
    expect((await migration.status()).state).toBe("intruded");
    expect((await refusalOf(migration.rollback())).reason).toBe("INTRUDED");
    await withQueue({ url: bench.url, queue }, (v1) => v1.add("intruder", {}));
    // A v1 client has made itself at home again: its keys are named, not touched.
    expect(await migration.repair()).toMatchObject({
      stamp: "echomq:2.0.0",
      stampRestored: true,
      tombstoneRestored: false,
      intruders: expect.arrayContaining(["wait", "id", "events"]),
    });
    expect(await bench.client.get(`emq:{${queue}}:meta`)).toBe("echomq:2.0.0");
    expect(await migration.repair()).toMatchObject({ stampRestored: false });
  });

  test("puts back the stamp of a move under way, so that it can go on", async () => {
    const bench = await openBench(engine);
    const queue = uniqueQueue("halfway");
    await makeV1({ url: bench.url, queue });
    const migration = await bench.migration({ queue });
    await migration.fence();
    await migration.copy();
    await bench.client.del(`emq:{${queue}}:meta`, `bull:${queue}:meta`);
    expect((await refusalOf(migration.copy())).reason).toBe("INTRUDED");
    expect(await migration.repair()).toMatchObject({
      stampRestored: true,
      tombstoneRestored: true,
    });
    await migration.runAll();
    expect((await migration.status()).state).toBe("done");
  });

  test("v2 keys that were all deleted in the middle of a move: v1 gets everything back", async () => {
    const bench = await openBench(engine);
    const queue = uniqueQueue("wiped");
    await makeV1({ url: bench.url, queue });
    const before = await v1State(bench.client, queue);
    const wiped = await bench.migration({ queue, batch: 10 });
    await wiped.fence();
    await wiped.copy();
    const wipe = async (): Promise<void> => {
      await bench.client.unlink(...(await bench.client.keys(`emq:{${queue}}:*`)));
    };
    for (const journal of [true, false]) {
      await wipe();
      if (!journal) await bench.client.del(`{emq}:migration:${queue}`);
      const migration = await bench.migration({ queue });
      expect((await migration.status()).next).toContain(" repair ");
      for (const work of [migration.rollback, migration.runAll]) {
        const error = await refusalOf(work());
        expect(error.reason).toBe("INTRUDED");
        expect(error.next).toContain(" repair ");
      }
      const report = await migration.repair();
      expect(report.stamp).toMatch(/:rollback$/);
      expect(report.next).toContain(" rollback ");
      await migration.rollback();
      expect(await v1State(bench.client, queue)).toEqual(before);
      const next = await bench.migration({ queue });
      await next.fence();
      await next.copy();
    }
    // After the commit v2 may have worked: the vault is not put back behind its back.
    await (await bench.migration({ queue })).runAll();
    await wipe();
    expect((await refusalOf((await bench.migration({ queue })).repair())).reason).toBe("FOREIGN");
  });

  test("sets aside a v1 meta that took the stamp's place", async () => {
    const bench = await openBench(engine);
    const name = uniqueQueue("over");
    const queue = `{${name}}`;
    await makeV1({ url: bench.url, queue: name });
    const migration = await bench.migration({ queue: name });
    await migration.runAll();
    await bench.client.del(`emq:${queue}:meta`);
    await withQueue({ url: bench.url, queue, prefix: "emq" }, (v1) => v1.add("intruder", {}));
    const report = await migration.repair();
    expect(report).toMatchObject({ stampRestored: true });
    expect(await bench.client.hget(report.aside ?? "", "version")).toBe("bullmq:5.65.1");
    expect(await bench.client.get(`emq:${queue}:meta`)).toBe("echomq:2.0.0");
    expect(
      (await refusalOf((await bench.migration({ queue: uniqueQueue("none") })).repair())).reason,
    ).toBe("NOTHING");
  });

  test("remove takes every v2 key away, and refuses while jobs run", async () => {
    const bench = await openBench(engine);
    const queue = uniqueQueue("leave");
    await makeV1({ url: bench.url, queue });
    const migration = await bench.migration({ queue });
    expect((await refusalOf(migration.remove({ yes: true }))).reason).toBe("NOTHING");
    await migration.fence();
    expect((await refusalOf(migration.remove({ yes: true }))).reason).toBe("OVERTAKEN");
    await migration.runAll();
    await bench.client.zadd(`emq:{${queue}}:v2:active`, -1, "1");
    expect((await refusalOf(migration.remove({ yes: true }))).reason).toBe("ACTIVE");
    await bench.client.del(`emq:{${queue}}:v2:active`);
    const listed = await (await bench.migration({ queue })).remove();
    expect(listed).toMatchObject({ removed: 0, tombstone: `bull:${queue}:meta` });
    expect(await bench.client.exists(`emq:{${queue}}:meta`)).toBe(1);
    await (await bench.migration({ queue })).remove({ yes: true });
    const left = await bench.client.keys(`*${queue}*`);
    expect(left.filter((key) => !key.startsWith("bull:"))).toEqual([]);
  });
});
