import { startServer, type TestServer, uniqueQueue } from "@echomq/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createMigration, type Migration, type PlanReport } from "../../src/index.js";
import { CrashingDriver } from "../support/crash.js";
import { type Bench, benchAt, ENGINES } from "../support/servers.js";
import { cloneQueue, v1State, v2State } from "../support/state.js";
import { makeV1 } from "../support/v1.js";

/** Runs `work` until the given command, then answers how many commands were sent. */
async function crashAt(
  bench: Bench,
  queue: string,
  crash: { after: number; reaches: boolean },
  work: (migration: Migration) => Promise<unknown>,
): Promise<number> {
  const driver = new CrashingDriver(bench.driver, crash);
  const migration = await createMigration({ source: driver, queue, batch: 20 });
  try {
    await work(migration);
  } catch (error) {
    if (!String(error).includes("the process has ended")) throw error;
  } finally {
    await migration.close();
  }
  return driver.sent;
}

/** All that writes, without the reads of drain and plan before it. */
async function move(migration: Migration, plan: PlanReport): Promise<void> {
  await migration.fence({ plan });
  await migration.copy();
  await migration.verify();
  await migration.commit();
}

/** Names and types of what stands of a queue on both sides. */
async function endState(bench: Bench, queue: string): Promise<Map<string, unknown>> {
  const out = new Map<string, unknown>();
  for (const key of await bench.client.keys(`*${queue}*`)) {
    out.set(key.replace(queue, "q"), await bench.client.type(key));
  }
  return new Map([...out].sort(([a], [b]) => (a < b ? -1 : 1)));
}

describe.each(ENGINES)("a crash at every command on %s", { timeout: 180_000 }, (engine) => {
  const source = uniqueQueue("source");
  let server: TestServer;

  // A server of its own: every phase walks all keys, also those other tests leave.
  beforeAll(async () => {
    server = await startServer({ engine });
    await makeV1({ url: server.url, queue: source, waiting: 8 });
  });

  afterAll(() => server.stop());

  const open = (): Promise<Bench> => benchAt(server.url);

  test.each([true, false])(
    "of run leaves a queue that run finishes (reached: %s)",
    async (reaches) => {
      const bench = await open();
      const whole = uniqueQueue("whole");
      await cloneQueue(bench.client, source, whole);
      const plan = await (await bench.migration({ queue: whole })).plan();
      const total = await crashAt(bench, whole, { after: 1e9, reaches }, (m) => move(m, plan));
      const wanted = await v2State(bench.client, whole);
      expect(total).toBeGreaterThan(30);
      for (let after = 0; after < total; after += 1) {
        const queue = uniqueQueue("crash");
        await cloneQueue(bench.client, source, queue);
        await crashAt(bench, queue, { after, reaches }, (m) => move(m, plan));
        const next = await createMigration({ source: bench.driver, queue, batch: 20 });
        await next.runAll();
        const status = await next.status();
        await next.close();
        expect({ after, state: status.state, at: status.at }).toEqual({
          after,
          state: "done",
          at: "committed",
        });
        expect({ after, v2: await v2State(bench.client, queue) }).toEqual({ after, v2: wanted });
        await bench.client.unlink(...(await bench.client.keys(`*${queue}*`)));
      }
    },
  );

  test.each([true, false])(
    "of rollback leaves a queue that rollback finishes (reached: %s)",
    async (reaches) => {
      const bench = await open();
      const wanted = await v1State(bench.client, source);
      const whole = uniqueQueue("whole");
      await cloneQueue(bench.client, source, whole);
      await crashAt(bench, whole, { after: 1e9, reaches }, (m) => m.runAll());
      const total = await crashAt(bench, whole, { after: 1e9, reaches }, (m) => m.rollback());
      for (let after = 0; after < total; after += 1) {
        const queue = uniqueQueue("crash");
        await cloneQueue(bench.client, source, queue);
        await crashAt(bench, queue, { after: 1e9, reaches }, (m) => m.runAll());
        await crashAt(bench, queue, { after, reaches }, (m) => m.rollback());
        const next = await createMigration({ source: bench.driver, queue });
        // When the crash hit the very last command there is nothing left to roll back.
        if ((await next.status()).at !== "rolled-back") await next.rollback();
        const status = await next.status();
        await next.close();
        expect({ after, state: status.state, at: status.at }).toEqual({
          after,
          state: "v1",
          at: "rolled-back",
        });
        expect({ after, v1: await v1State(bench.client, queue) }).toEqual({ after, v1: wanted });
        expect(await bench.client.keys(`emq:{${queue}}:*`)).toEqual([]);
        await bench.client.unlink(...(await bench.client.keys(`*${queue}*`)));
      }
    },
  );

  test.each([true, false])(
    "of purge and of remove leaves a queue that the same command finishes (reached: %s)",
    async (reaches) => {
      const bench = await open();
      const finish: Readonly<Record<string, (m: Migration) => Promise<unknown>>> = {
        purge: (m) => m.commit({ purgeV1: true }),
        remove: async (m) => {
          // When the crash hit the very last command there is nothing left to remove.
          if ((await m.status()).state !== "foreign") await m.remove({ yes: true });
        },
      };
      const ends: Record<string, Map<string, unknown>> = {};
      for (const name of ["purge", "remove"] as const) {
        const work = finish[name] as (m: Migration) => Promise<unknown>;
        const whole = uniqueQueue("whole");
        await cloneQueue(bench.client, source, whole);
        await crashAt(bench, whole, { after: 1e9, reaches }, (m) => m.runAll());
        const total = await crashAt(bench, whole, { after: 1e9, reaches }, work);
        ends[name] = await endState(bench, whole);
        for (let after = 0; after < total; after += 1) {
          const queue = uniqueQueue("crash");
          await cloneQueue(bench.client, source, queue);
          await crashAt(bench, queue, { after: 1e9, reaches }, (m) => m.runAll());
          await crashAt(bench, queue, { after, reaches }, work);
          await crashAt(bench, queue, { after: 1e9, reaches }, work);
          expect({ name, after, keys: await endState(bench, queue) }).toEqual({
            name,
            after,
            keys: ends[name],
          });
          await bench.client.unlink(...(await bench.client.keys(`*${queue}*`)));
        }
        await bench.client.unlink(...(await bench.client.keys(`*${whole}*`)));
      }
      expect([...(ends.remove?.keys() ?? [])].filter((key) => key.startsWith("emq:"))).toEqual([]);
    },
  );

  test("two tools of one run copy side by side to the same result", async () => {
    const bench = await open();
    const queue = uniqueQueue("pair");
    const whole = uniqueQueue("whole");
    await cloneQueue(bench.client, source, queue);
    await cloneQueue(bench.client, source, whole);
    await (await bench.migration({ queue: whole })).runAll();
    const first = await bench.migration({ queue, batch: 1 });
    const second = await bench.migration({ queue, batch: 3 });
    await first.fence();
    await Promise.all([first.copy(), second.copy()]);
    await first.verify();
    await second.commit();
    expect(await v2State(bench.client, queue)).toEqual(await v2State(bench.client, whole));
  });
});
