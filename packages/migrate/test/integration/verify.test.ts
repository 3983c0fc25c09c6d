import { uniqueQueue } from "@echomq/testkit";
import { kindKey, unitKey } from "@echomq/wire";
import { describe, expect, test } from "vitest";
import { ENGINES, openBench, refusalOf } from "../support/servers.js";
import { makeV1, withQueue } from "../support/v1.js";

describe.each(ENGINES)("verify on %s", (engine) => {
  test("finds every kind of difference and keeps commit closed", async () => {
    const bench = await openBench(engine);
    const queue = uniqueQueue("differs");
    await makeV1({ url: bench.url, queue });
    const migration = await bench.migration({ queue });
    await migration.fence();
    expect((await refusalOf(migration.verify())).reason).toBe("NOT_COPIED");
    await migration.copy();
    expect((await refusalOf(migration.commit())).reason).toBe("NOT_VERIFIED");
    const { client } = bench;
    const job = (id: string): string => kindKey(queue, "job", id);
    const unit = (name: "wait" | "failed" | "delayed" | "extras" | "priorities"): string =>
      unitKey(queue, name);
    await client.hset(job("1"), "data", "changed");
    await client.hset(job("2"), "extra", "field");
    await client.hdel(job("3"), "returnvalue");
    await client.del(job("4"));
    await client.hset(`bull:${queue}:5`, "progress", "changed on v1 after the copy");
    await client.lset(kindKey(queue, "logs", "13"), 1, "another line");
    await client.rpoplpush(unit("wait"), unit("wait"));
    await client.zrem(unit("failed"), "custom-failed");
    await client.zincrby(unit("delayed"), 1, "44");
    await client.hset(unit("priorities"), "33", "77");
    const error = await refusalOf(migration.verify());
    expect(error).toMatchObject({ code: "MIGRATION_DIFFERENT", reason: "DIFFERENT" });
    const { report } = error.details as {
      report: { first: { where: string; id: string; what: string }[] };
    };
    const said = report.first.map(({ where, id, what }) => `${where} ${id}: ${what}`).join("\n");
    for (const id of ["1", "2", "3", "4", "5", "13", "custom-failed"]) {
      expect(said).toMatch(new RegExp(`(completed|failed) ${id}: `));
    }
    expect(error.details).toMatchObject({ report: { ok: false } });
    expect((await refusalOf(migration.commit())).reason).toBe("NOT_VERIFIED");
    await migration.rollback();
    await migration.runAll();
  });

  test("names dangling ids, orphans and jobs in two states, and carries the rest", async () => {
    const bench = await openBench(engine);
    const queue = uniqueQueue("dirty");
    await makeV1({ url: bench.url, queue });
    const { client } = bench;
    await client.lpush(`bull:${queue}:wait`, "ghost", "0:1234567");
    await client.zadd(`bull:${queue}:failed`, 5, "spirit");
    await client.hset(`bull:${queue}:stray`, "name", "stray", "data", "{}");
    await client.set(`bull:${queue}:text`, "no hash");
    await client.lpush(`bull:${queue}:wait`, "text");
    await client.zadd(`bull:${queue}:completed`, 7, "17");
    const migration = await bench.migration({ queue, batch: 10 });
    const plan = await migration.plan();
    expect(plan.dangling.first.map(({ id }) => id).sort()).toEqual(["ghost", "spirit", "text"]);
    expect(plan.twice.first).toEqual([{ id: "17", states: ["wait", "completed"] }]);
    expect(plan.notes.join("\n")).toContain("1 marker of");
    await migration.fence({ plan });
    const copied = await migration.copy();
    expect(copied.dangling.first).toEqual(
      expect.arrayContaining([
        { state: "wait", id: "ghost", status: "gone" },
        { state: "wait", id: "text", status: "wrongtype" },
        { state: "failed", id: "spirit", status: "gone" },
      ]),
    );
    const verified = await migration.verify();
    expect(verified).toMatchObject({ ok: true, twice: 1, dangling: { count: 3 } });
    expect([...verified.orphans.first].sort()).toEqual([
      `bull:${queue}:stray`,
      `bull:${queue}:text`,
    ]);
    await migration.commit();
    expect(await client.lrange(unitKey(queue, "wait"), 0, -1)).not.toContain("ghost");
  });

  test("compares long logs to the last line", async () => {
    const bench = await openBench(engine);
    const queue = uniqueQueue("logs");
    await withQueue({ url: bench.url, queue }, (v1) => v1.add("chatty", {}));
    const lines = Array.from({ length: 1_700 }, (_, n) => `line ${n}`);
    await bench.client.rpush(`bull:${queue}:1:logs`, ...lines);
    const migration = await bench.migration({ queue });
    await migration.fence();
    await migration.copy();
    await migration.verify();
    await bench.client.lset(kindKey(queue, "logs", "1"), 1_650, "another");
    const error = await refusalOf(migration.verify());
    expect(error.details).toMatchObject({
      report: { differences: 1, first: [{ where: "logs", id: "1" }] },
    });
  });
});
