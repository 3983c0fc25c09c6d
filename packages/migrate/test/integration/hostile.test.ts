import { startServer, uniqueQueue } from "@echomq/testkit";
import type { Redis } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import { runMain } from "../support/cli.js";
import { plant, type Seed, type SeedJob } from "../support/seed.js";
import { benchAt, contentOf, ENGINES, openBench, refusalOf } from "../support/servers.js";
import { makeV1, withQueue } from "../support/v1.js";

const PREFIXES = ["a:b", "a*?[x]", "my app", "{tag}", "pre{fix}x", "it's $(id)", "emq:{x}", "\\"];

/** Names that a v1 line once took and v2 refuses. */
const NAMES = ["a:b", "{x", "x}y", "emq", " lead", "n".repeat(129), "line\nbreak", "a{b}c"];

const IDS = [
  "[a]*?",
  "*",
  "\\",
  "a:b:c",
  "x:logs",
  "x",
  "007",
  "__proto__",
  "é".repeat(256),
  "y".repeat(512),
  'it\'s "quoted"',
];

function job(id: string, state: SeedJob["state"], data = "{}"): SeedJob {
  const fields = { name: "job", data, timestamp: "1700000000000" };
  const score = state === "wait" ? 0 : 7_000_000_000_000_000;
  return { id, state, score, priority: 0, fields, logs: id === "x" ? [] : [`log of ${id}`] };
}

function seed(jobs: readonly SeedJob[]): Seed {
  const meta = { version: "bullmq:5.65.1", "opts.maxLenEvents": "10000" };
  return { jobs, meta, dangling: [], dedups: [{ id: "d*", job: "x", ttl: 0 }] };
}

async function withoutJournal(client: Redis, pattern = "*"): Promise<Map<string, unknown>> {
  const all = await contentOf(client, pattern);
  for (const key of all.keys()) if (key.startsWith("{emq}:migration:")) all.delete(key);
  return all;
}

describe.each(ENGINES)("hostile input on %s", (engine) => {
  test("odd prefixes: v1 is back byte for byte after every phase, neighbours untouched", async () => {
    await using server = await startServer({ engine });
    const bench = await benchAt(server.url);
    const { client } = bench;
    for (const prefix of PREFIXES) {
      const queue = "orders";
      await withQueue({ url: server.url, queue, prefix }, (v1) =>
        v1.addBulk([
          { name: "a", data: { n: 1 } },
          { name: "b", data: {}, opts: { delay: 9e6 } },
        ]),
      );
      // What an unescaped pattern, or a prefix cut short, would take for the queue's.
      for (const near of ["a", "axyx", "ax", "my", "tag", "pre"]) {
        await client.hset(`${near}:orders:1`, "name", "neighbour");
      }
      const before = await withoutJournal(client);
      const migration = await bench.migration({ queue, prefix, batch: 1 });
      const steps = [migration.fence, migration.copy, migration.verify, migration.commit];
      for (let upTo = 1; upTo <= steps.length; upTo += 1) {
        for (const step of steps.slice(0, upTo)) await step();
        await migration.rollback();
        expect({ prefix, upTo, keys: await withoutJournal(client) }).toEqual({
          prefix,
          upTo,
          keys: before,
        });
      }
      await migration.runAll({ purgeV1: true });
      expect(await client.hget("axyx:orders:1", "name")).toBe("neighbour");
      const left = await client.keys("*");
      expect(left.filter((key) => key.startsWith(`${prefix}:orders:`))).toEqual([
        `${prefix}:orders:meta`,
      ]);
      await client.flushall();
    }
  });

  test("names that v2 refuses go through every phase of the tool with --as", async () => {
    await using server = await startServer({ engine });
    const bench = await benchAt(server.url);
    const { client } = bench;
    for (const queue of NAMES) {
      await plant(client, `bull:${queue}:`, seed([job("1", "wait"), job("2", "completed")]));
      const before = await withoutJournal(client);
      const tool = (command: string, ...more: string[]): ReturnType<typeof runMain> =>
        runMain(...command.split(" "), "--queue", queue, "--url", server.url, "--json", ...more);
      const refused = await tool("plan");
      expect({ queue, status: refused.status }).toEqual({ queue, status: 1 });
      const { error } = JSON.parse(refused.stdout);
      expect(error.reason).toBe("NAME");
      const as = uniqueQueue("named");
      const good = ["--as", as];
      for (const command of ["discover", "plan", "drain", "fence", "copy", "verify", "commit"]) {
        const { status, stdout, stderr } = await tool(command, ...good);
        expect({ queue, command, status, stderr }).toEqual({
          queue,
          command,
          status: 0,
          stderr: "",
        });
        expect(JSON.parse(stdout)).toMatchObject({ phase: command });
        if (command === "plan") expect(JSON.parse(stdout).next).toContain(` --as ${as} `);
      }
      expect((await tool("rollback", ...good)).status).toBe(0);
      expect({ queue, keys: await withoutJournal(client) }).toEqual({ queue, keys: before });
      const commands = ["run", "status", "repair", "commit --purge-v1", "remove", "remove --yes"];
      for (const command of commands) {
        const { status, stderr } = await tool(command, ...good);
        expect({ queue, command, status, stderr }).toEqual({
          queue,
          command,
          status: 0,
          stderr: "",
        });
      }
      expect(await client.keys("*")).toEqual([`bull:${queue}:meta`]);
      await client.flushall();
    }
  });

  test("odd ids and payloads of 1 MB move whole; ids v2 refuses are named", async () => {
    const bench = await openBench(engine);
    const { client } = bench;
    const queue = uniqueQueue("ids");
    const base = `bull:${queue}:`;
    const big = JSON.stringify({ text: "é".repeat(524_288) });
    await plant(
      client,
      base,
      seed([
        ...IDS.map((id) => job(id, "wait")),
        ...Array.from({ length: 12 }, (_, n) => job(`big-${n}`, "delayed", big)),
      ]),
    );
    const before = await withoutJournal(client, `*${queue}*`);
    const migration = await bench.migration({ queue });
    const report = await migration.runAll();
    expect(report.jobs).toBe(IDS.length + 12);
    for (const id of IDS) {
      expect(await client.hgetall(`emq:{${queue}}:v2:job:${id}`)).toEqual(
        await client.hgetall(base + id),
      );
    }
    await migration.rollback();
    expect(await withoutJournal(client, `*${queue}*`)).toEqual(before);

    for (const id of ["z".repeat(513), "a\nb", "emq-vault:wait"]) {
      await plant(client, base, seed([job(id, "wait")]));
      const error = await refusalOf(migration.runAll());
      expect({ id, reason: error.reason }).toEqual({ id, reason: "IDS" });
      await client.lrem(`${base}wait`, 1, id);
      await client.unlink(base + id);
    }
    expect((await migration.plan()).ok).toBe(true);
  });

  test("a purge leaves another v1 queue alone whose keys read like jobs of this one", async () => {
    await using server = await startServer({ engine });
    const bench = await benchAt(server.url);
    await makeV1({ url: server.url, queue: "a", waiting: 3 });
    await makeV1({ url: server.url, queue: "b", prefix: "bull:a", waiting: 3 });
    await makeV1({ url: server.url, queue: "de", prefix: "bull:a", waiting: 3 });
    const moved = await bench.migration({ queue: "c", prefix: "bull:a" });
    await makeV1({ url: server.url, queue: "c", prefix: "bull:a", waiting: 3 });
    await moved.runAll();
    const theirs = async (): Promise<Map<string, unknown>> => {
      const all = await withoutJournal(bench.client);
      for (const key of all.keys()) if (!/^bull:a:(?:b|c|de):/.test(key)) all.delete(key);
      for (const key of all.keys()) if (key.endsWith(":stalled-check")) all.delete(key);
      return all;
    };
    const before = await theirs();
    const migration = await bench.migration({ queue: "a" });
    await migration.runAll();
    const { others } = await migration.purge();
    expect([...others].sort()).toEqual(["bull:a:b:", "bull:a:c:", "bull:a:de:"]);
    expect(await theirs()).toEqual(before);
    expect(await bench.client.exists("bull:a:1", "bull:a:a:b:c")).toBe(0);
  });

  test("three tools on one queue: one moves it, the others are told, nothing is lost", {
    repeats: 9,
  }, async () => {
    const bench = await openBench(engine);
    const queue = uniqueQueue("race");
    await makeV1({ url: bench.url, queue, waiting: 40 });
    const jobs = (await bench.client.keys(`bull:${queue}:*`)).filter((key) => /:\d+$/.test(key));
    const tools = await Promise.all([1, 3, 7].map((batch) => bench.migration({ queue, batch })));
    const outcomes = await Promise.allSettled(tools.map((tool) => tool.runAll()));
    const refused = outcomes.flatMap((each) =>
      each.status === "rejected" ? [(each.reason as { reason?: string }).reason] : [],
    );
    expect(outcomes.some(({ status }) => status === "fulfilled")).toBe(true);
    for (const reason of refused)
      expect(["OVERTAKEN", "NOT_FENCED", "TARGET_TAKEN"]).toContain(reason);
    for (const tool of tools) expect((await tool.runAll()).reports.length).toBeGreaterThan(0);
    expect(await tools[0]?.status()).toMatchObject({ state: "done", at: "committed" });
    expect(await bench.client.get(`emq:{${queue}}:meta`)).toBe("echomq:2.0.0");
    for (const key of jobs) {
      const id = key.slice(`bull:${queue}:`.length);
      expect(await bench.client.hgetall(`emq:{${queue}}:v2:job:${id}`)).toEqual(
        await bench.client.hgetall(key),
      );
    }
  });

  test.each(["plan", "fence", "copy", "rollback"])(
    "a journal that another run left in %s does not hold up the run of the stamp",
    async (phase) => {
      const { client, url, migration: make } = await openBench(engine);
      const queue = uniqueQueue("journal");
      await makeV1({ url, queue, waiting: 3 });
      const first = await make({ queue });
      const { run } = await first.fence();
      const journal = `{emq}:migration:${queue}`;
      const other = { run: "other-1", phase, queue, prefix: "bull" };
      await client.unlink(journal);
      await client.hset(journal, other);
      const second = await make({ queue });
      expect((await second.runAll()).run).toBe(run);
      expect(await client.hmget(journal, "run", "phase")).toEqual([run, "committed"]);
      await client.hset(journal, other);
      // Opening reads it, so a commit that is repeated closes it.
      expect(await second.commit()).toMatchObject({ already: true, run });
      expect(await client.hmget(journal, "run", "phase")).toEqual([run, "committed"]);
    },
  );

  test("a server that restarts in the middle: the same command goes on", async () => {
    const server = await startServer({
      engine,
      args: ["--appendonly", "yes", "--appendfsync", "always"],
    });
    onTestFinished(() => server.stop());
    const setup = await benchAt(server.url);
    await makeV1({ url: server.url, queue: "restarted", waiting: 120 });
    let seen = 0;
    let restarted: Promise<void> | undefined;
    const migration = await setup.migration({
      queue: "restarted",
      batch: 2,
      onProgress: ({ phase }) => {
        if (phase !== "copy") return;
        seen += 1;
        if (seen === 20) restarted = server.kill("SIGKILL").then(() => server.restart());
      },
    });
    const first = await migration.runAll().then(
      () => "done",
      (error: unknown) => (error as { code?: string }).code,
    );
    await restarted;
    expect(["done", "CONNECTION_LOST", "LOADING", "TIMEOUT"]).toContain(first);
    const after = await benchAt(server.url);
    const again = await after.migration({ queue: "restarted" });
    await again.runAll();
    expect(await again.status()).toMatchObject({ state: "done", at: "committed" });
    expect(await after.client.llen("emq:{restarted}:v2:wait")).toBe(122);
    expect((await again.rollback()).phase).toBe("rollback");
  });
});
