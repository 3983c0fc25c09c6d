import { uniqueQueue } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import type { Migration } from "../../src/index.js";
import { runMain } from "../support/cli.js";
import { type Bench, contentOf, ENGINES, openBench, refusalOf } from "../support/servers.js";
import { withQueue } from "../support/v1.js";

/** Every phase that writes, and those that would mislead. */
const PHASES: Readonly<Record<string, (migration: Migration) => Promise<unknown>>> = {
  drain: (m) => m.drain({ deadlineMs: 0 }),
  fence: (m) => m.fence(),
  copy: (m) => m.copy(),
  verify: (m) => m.verify(),
  commit: (m) => m.commit(),
  purge: (m) => m.commit({ purgeV1: true }),
  rollback: (m) => m.rollback(),
  repair: (m) => m.repair(),
  remove: (m) => m.remove({ yes: true }),
  run: (m) => m.runAll(),
};

/** A v1 queue `{name}` at prefix `acme`, and what a wrong call would take for it. */
interface Moved {
  readonly bench: Bench;
  readonly name: string;
  readonly right: Migration;
  readonly wrong: readonly (() => Promise<Migration>)[];
}

async function make(engine: "redis" | "valkey"): Promise<Moved> {
  const bench = await openBench(engine);
  const name = uniqueQueue("source");
  const queue = `{${name}}`;
  await withQueue({ url: bench.url, queue, prefix: "acme" }, (v1) => v1.add("one", { n: 1 }));
  // A live v1 queue of the same name at the default prefix must come to no harm either.
  await withQueue({ url: bench.url, queue: name }, (v1) => v1.add("other", { n: 2 }));
  return {
    bench,
    name,
    right: await bench.migration({ queue, prefix: "acme" }),
    wrong: [
      () => bench.migration({ queue: name }),
      () => bench.migration({ queue, prefix: "emq" }),
      () => bench.migration({ queue: name, prefix: "acme" }),
      () => bench.migration({ queue, prefix: "bull" }),
      () => bench.migration({ queue: "elsewhere", as: name }),
    ],
  };
}

async function refuseAll({ bench, name, wrong }: Moved): Promise<void> {
  const before = await contentOf(bench.client, `*${name}*`);
  for (const make of wrong) {
    for (const [phase, work] of Object.entries(PHASES)) {
      const error = await refusalOf(work(await make()));
      expect({ phase, reason: error.reason }).toEqual({ phase, reason: "OTHER_SOURCE" });
      expect(error.next).toContain(` --queue '{${name}}' --prefix acme`);
    }
  }
  expect(await contentOf(bench.client, `*${name}*`)).toEqual(before);
}

describe.each(ENGINES)("a run's source on %s", (engine) => {
  test("every phase told another prefix or spelling refuses and changes nothing", async () => {
    const moved = await make(engine);
    const { bench, name, right } = moved;
    await right.fence();
    await refuseAll(moved);
    await right.copy();
    await refuseAll(moved);
    await right.verify();
    await refuseAll(moved);
    // With the journal lost, or another queue's, the scripts' own word still stands.
    await bench.client.del(`{emq}:migration:${name}`);
    await refuseAll(moved);
    await bench.client.hset(`{emq}:migration:${name}`, {
      run: "stale",
      phase: "copy",
      queue: name,
      prefix: "bull",
    });
    await refuseAll(moved);
    await bench.client.del(`{emq}:migration:${name}`);
    await right.commit();
    await refuseAll(moved);
    await bench.client.del(`{emq}:migration:${name}`);
    await refuseAll(moved);
    expect(await bench.client.lrange(`emq:{${name}}:v2:wait`, 0, -1)).toEqual(["1"]);
    expect(await right.commit({ purgeV1: true })).toMatchObject({ already: true });
    // What the other queue holds was never the purge's to take.
    expect(await bench.client.hget(`bull:${name}:1`, "data")).toBe('{"n":2}');
    expect(await bench.client.keys(`acme:{${name}}:*`)).toEqual([`acme:{${name}}:meta`]);
  });

  test("an intruded queue is repaired from its own source only", async () => {
    const moved = await make(engine);
    await moved.right.runAll();
    await moved.bench.client.del(`emq:{${moved.name}}:meta`, `acme:{${moved.name}}:meta`);
    await refuseAll(moved);
    expect(await moved.right.repair()).toMatchObject({ tombstoneRestored: true });
  });

  test("status follows the run, and a plan names it as what stands in the way", async () => {
    const { name, right, wrong, bench } = await make(engine);
    const { run } = await right.fence();
    for (const make of wrong) {
      const migration = await make();
      expect(await migration.status()).toMatchObject({
        followed: true,
        queue: `{${name}}`,
        prefix: "acme",
        state: "moving",
        run,
        counts: { wait: { v1: 1, v2: 0 } },
        next: `npx -p @echomq/migrate -p ioredis echomq-migrate copy --queue '{${name}}' --prefix acme`,
      });
      expect((await migration.plan()).blockers.map(({ reason }) => reason)).toContain(
        "OTHER_SOURCE",
      );
    }
    expect(await right.status()).toMatchObject({ followed: false, state: "moving" });
    const cli = await runMain("run", "--url", bench.url, "--queue", name, "--json");
    expect(cli.status).toBe(1);
    expect(JSON.parse(cli.stdout)).toMatchObject({
      phase: "run",
      error: { reason: "OTHER_SOURCE" },
    });
  });

  test("discover still lists the v1 queue beside a v2 queue of its name, and it moves with --as", async () => {
    const { bench, name, right } = await make(engine);
    await right.runAll();
    const { stdout } = await runMain("discover", "--url", bench.url, "--json");
    const { queues } = JSON.parse(stdout) as { queues: { queue: string; state: string }[] };
    expect(queues.find(({ queue }) => queue === name)).toMatchObject({
      state: "v1",
      prefix: "bull",
    });
    const as = uniqueQueue("beside");
    await (await bench.migration({ queue: name, as })).runAll();
    expect(await bench.client.hget(`emq:{${as}}:v2:job:1`, "data")).toBe('{"n":2}');
    expect(await bench.client.hget(`emq:{${name}}:v2:job:1`, "data")).toBe('{"n":1}');
  });

  test("a run without v2:meta can only go back, and only from its own place", async () => {
    const moved = await make(engine);
    const { bench, name, right, wrong } = moved;
    const before = await contentOf(bench.client, `*${name}*`);
    await right.fence();
    await right.copy();
    await bench.client.del(`emq:{${name}}:v2:meta`, `{emq}:migration:${name}`);
    for (const work of [right.copy, right.verify, right.commit]) {
      expect((await refusalOf(work())).reason).toBe("INTRUDED");
    }
    for (const make of wrong) {
      for (const work of Object.values(PHASES)) {
        expect((await refusalOf(work(await make()))).reason).toBe("INTRUDED");
      }
    }
    await right.rollback();
    const after = await contentOf(bench.client, `*${name}*`);
    after.delete(`{emq}:migration:${name}`);
    expect(after).toEqual(before);
  });

  test("commit refuses without the tombstone of its run, and without a vault", async () => {
    const { bench, name, right } = await make(engine);
    await right.fence();
    await right.copy();
    await right.verify();
    const meta = `acme:{${name}}:meta`;
    const text = (await bench.client.get(meta)) ?? "";
    await bench.client.del(meta);
    const gone = await refusalOf(right.commit());
    expect(gone.reason).toBe("INTRUDER");
    expect(gone.next).toContain("echomq-migrate repair ");
    await bench.client.set(meta, "echomq:moved:another:moving:q");
    expect((await refusalOf(right.commit())).reason).toBe("INTRUDER");
    await bench.client.set(meta, text);
    const vault = await bench.client.keys(`acme:{${name}}:emq-vault:*`);
    for (const key of vault) await bench.client.rename(key, `aside:${key}`);
    const empty = await refusalOf(right.commit());
    expect(empty.message).toContain("the vault is empty");
    for (const key of vault) await bench.client.rename(`aside:${key}`, key);
    await right.commit();
  });

  test("where no v1 queue is, nothing is committed, and what is elsewhere is named", async () => {
    const bench = await openBench(engine);
    const name = uniqueQueue("none");
    const empty = await bench.migration({ queue: name });
    const work = [() => empty.runAll(), () => empty.fence(), () => empty.drain()];
    for (const each of work) {
      const error = await refusalOf(each());
      expect(error).toMatchObject({ reason: "NOTHING", details: { elsewhere: [] } });
      expect(error.next).toBe("npx -p @echomq/migrate -p ioredis echomq-migrate discover");
    }
    for (const [queue, prefix] of [
      [`{${name}}`, "bull"],
      [name, "{bull}"],
      [`{${name}}`, "emq"],
    ] as const) {
      await withQueue({ url: bench.url, queue, prefix }, (v1) => v1.add("a", {}));
      const error = await refusalOf(empty.runAll());
      expect(error.reason).toBe("NOTHING");
      expect(error.details).toMatchObject({
        elsewhere: [{ queue, prefix, version: "bullmq:5.65.1" }],
      });
      expect(error.message).toContain(`"${queue}" at prefix "${prefix}" (line 5)`);
      expect(error.next).toContain(`plan --queue ${queue === name ? name : `'${queue}'`}`);
      await bench.client.unlink(...(await bench.client.keys(`*${name}*`)));
    }
    // A v1 queue that exists and is empty moves.
    await withQueue({ url: bench.url, queue: name }, (v1) => v1.waitUntilReady());
    expect(await empty.runAll()).toMatchObject({ jobs: 0 });
  });
});
