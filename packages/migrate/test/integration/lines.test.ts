import { uniqueQueue } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { runMain } from "../support/cli.js";
import { loadLine, makeLine, withLine } from "../support/lines.js";
import { contentOf, ENGINES, openBench, refusalOf } from "../support/servers.js";
import { connectionOf } from "../support/v1.js";

const LINES = [
  { alias: "bullmq-67", line: "6", version: "bullmq:6.7.0", ranked: true },
  { alias: "bullmq-4", line: "4", version: "bullmq:4.18.3", ranked: true },
  { alias: "bullmq-3", line: "3", version: "bullmq:3.16.2", ranked: false },
] as const;

describe.each(ENGINES)("lines of v1 on %s", (engine) => {
  test.each(LINES)("$version: plain jobs of every state move whole and back", async (each) => {
    const bench = await openBench(engine);
    const { client, url } = bench;
    const queue = uniqueQueue("line");
    await makeLine(await loadLine(each.alias), { url, queue, ranked: each.ranked });
    const v1 = (unit: string): string => `bull:${queue}:${unit}`;
    const v2 = (unit: string): string => `emq:{${queue}}:v2:${unit}`;
    // Line 6 pauses in place, older lines rename `wait`.
    const held = each.line === "6" ? "wait" : "paused";
    const waiting = (await client.lrange(v1(held), 0, -1)).filter((id) => !id.startsWith("0:"));
    expect(waiting).toHaveLength(13);
    const ranked = await client.zrange(v1("prioritized"), 0, -1);
    const before = await contentOf(client, `bull:${queue}:*`);
    for (const key of before.keys()) if (key.endsWith(":stalled-check")) before.delete(key);
    const hashes = [...before].filter(([, { type }]) => type === "hash");

    const migration = await bench.migration({ queue, batch: 5 });
    const [found] = (await migration.discover()).queues;
    expect(found).toMatchObject({ version: each.version, line: each.line, uncarried: [] });
    expect(await migration.plan()).toMatchObject({
      ok: true,
      line: each.line,
      jobs: 24 + ranked.length,
    });
    await migration.runAll();
    expect((await client.lrange(v2("wait"), 0, -1)).reverse()).toEqual([...waiting].reverse());
    expect(await client.zrange(v2("prioritized"), 0, -1)).toEqual(ranked);
    expect(await client.hget(v2("meta"), "paused")).toBe("1");
    expect(await client.zcard(v2("completed"))).toBe(6);
    expect(await client.zcard(v2("failed"))).toBe(1);
    expect(await client.zcard(v2("delayed"))).toBe(4);
    const after = await contentOf(client, `emq:{${queue}}:v2:job:*`);
    for (const [key, { dump }] of hashes) {
      const id = key.slice(v1("").length);
      if (/^\d+$/.test(id)) expect(after.get(v2(`job:${id}`))?.dump).toBe(dump);
    }
    await migration.rollback();
    const back = await contentOf(client, `bull:${queue}:*`);
    for (const key of back.keys()) if (key.endsWith(":stalled-check")) back.delete(key);
    expect(back).toEqual(before);
  });

  test.each(LINES)("$version: what cannot be carried yet is named by its reason", async (each) => {
    const bench = await openBench(engine);
    const { url } = bench;
    const queue = uniqueQueue("uncarried");
    const line = await loadLine(each.alias);
    await withLine(line, { url, queue }, async (v1) => {
      await v1.add("plain", {});
      if (each.line === "3") await v1.add("ranked", {}, { priority: 3 });
      if (each.line !== "6") await v1.add("tick", {}, { repeat: { every: 3_600_000 } });
    });
    const flows = new line.FlowProducer({ connection: connectionOf(url) });
    await flows.add({ name: "p", queueName: queue, children: [{ name: "c", queueName: queue }] });
    await flows.close();
    const wanted = [
      "FLOWS",
      ...(each.line === "6" ? [] : ["SCHEDULERS"]),
      ...(each.line === "3" ? ["LINE"] : []),
    ];
    const migration = await bench.migration({ queue });
    const [found] = (await migration.discover()).queues;
    expect(found?.line).toBe(each.line);
    expect(found?.uncarried.map(({ reason }) => reason)).toEqual(wanted);
    const plan = await migration.plan();
    expect(plan).toMatchObject({ ok: false, line: each.line });
    expect([...new Set(plan.blockers.map(({ reason }) => reason))]).toEqual(wanted);
    const before = await contentOf(bench.client, `*${queue}*`);
    expect(wanted).toContain((await refusalOf(migration.runAll())).reason);
    expect(await contentOf(bench.client, `*${queue}*`)).toEqual(before);
    const said = await runMain("discover", "--url", url, "--queue", queue);
    expect(said.stdout).toContain(
      `${queue}: FLOWS, 1 member of waiting-children cannot be carried`,
    );
  });
});
