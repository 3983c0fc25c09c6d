import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { type Engine, startReplica, startServer } from "../../src/index.js";
import { isAlive } from "../support/alive.js";

const engines: Engine[] = ["redis", "valkey"];

describe.each(engines)("a replica of a %s server", (engine) => {
  test("has what its primary has, refuses writes, and takes them once promoted", async () => {
    await using primary = await startServer({ engine });
    const source = new Redis(primary.url);
    await source.set("before", "1");
    const replica = await startReplica(primary);
    const copy = new Redis(replica.url);
    expect(await copy.get("before")).toBe("1");
    for (let n = 0; n < 1000; n += 1) void source.rpush("list", String(n));
    await source.ping();
    await replica.inSync();
    expect(await copy.llen("list")).toBe(1000);
    await expect(copy.set("mine", "1")).rejects.toThrow(/^READONLY /);
    await primary.kill();
    await replica.promote();
    expect(await copy.set("mine", "1")).toBe("OK");
    expect(await copy.llen("list")).toBe(1000);
    source.disconnect();
    copy.disconnect();
    await replica.stop();
    expect(isAlive(replica.pid)).toBe(false);
  });
});
