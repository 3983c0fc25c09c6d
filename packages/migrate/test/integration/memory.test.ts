import { startServer } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { benchAt, ENGINES, refusalOf } from "../support/servers.js";
import { v1State } from "../support/state.js";

describe.each(ENGINES)("memory on %s", (engine) => {
  test("a copy that cannot fit is refused, and one that meets the limit goes on later", async () => {
    const server = await startServer({ engine });
    onTestFinished(() => server.stop());
    const bench = await benchAt(server.url);
    const { client } = bench;
    await client.hset("bull:big:meta", "version", "bullmq:5.65.1");
    const batch = client.pipeline();
    for (let n = 0; n < 300; n += 1) {
      batch.hset(`bull:big:${n}`, "name", "big", "data", "x".repeat(10_000));
      batch.lpush("bull:big:wait", n);
    }
    await batch.exec();
    const before = await v1State(client, "big");
    const limit = async (room: number): Promise<void> => {
      const used = Number(/used_memory:(\d+)/.exec(await client.info("memory"))?.[1]);
      await client.config("SET", "maxmemory", String(room === 0 ? 0 : used + room));
    };
    const migration = await bench.migration({ queue: "big", batch: 20 });
    await limit(1_500_000);
    const error = await refusalOf(migration.fence());
    expect(error.reason).toBe("MEMORY");
    expect(error.message).toMatch(/the copy needs about \d+ bytes and maxmemory leaves \d+/);
    expect(await client.exists("emq:{big}:meta")).toBe(0);

    await limit(0);
    await migration.fence();
    await limit(1_500_000);
    expect((await refusalOf(migration.copy())).reason).toBe("MEMORY");
    // Taking back needs no memory.
    await migration.rollback();
    expect(await v1State(client, "big")).toEqual(before);

    await limit(0);
    await migration.fence();
    await limit(1_500_000);
    expect((await refusalOf(migration.copy())).reason).toBe("MEMORY");
    await limit(0);
    await migration.copy();
    expect((await migration.verify()).jobs).toBe(300);
  });
});
