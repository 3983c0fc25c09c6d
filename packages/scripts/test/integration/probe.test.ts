import { sharedServer, startServer, uniqueQueue } from "@echomq/testkit";
import { type FenceProbes, isEchoMQError, reserveKey, stampKey, unitKey } from "@echomq/wire";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { fenceRead, type RedisDriver, V1_PREFIXES } from "../../src/index.js";
import { ENGINES, openDriver } from "../support/bench.js";

describe.each(ENGINES)("the boot fence's reads on %s", (engine) => {
  let driver: RedisDriver;
  let redis: Redis;
  let q: string;
  beforeAll(async () => {
    const { url } = await sharedServer(engine);
    driver = await openDriver(url);
    redis = new Redis(url);
  });
  beforeEach(() => {
    q = uniqueQueue();
  });
  afterAll(async () => {
    redis?.disconnect();
    await driver?.close("now");
  });

  async function probe(over: RedisDriver = driver): Promise<FenceProbes> {
    const read = fenceRead(q);
    return read.understand(await over.pipeline(read.commands));
  }

  test("nothing there: every probe says so, for each prefix plain and braced", async () => {
    const probes = await probe();
    expect(probes).toMatchObject({
      queue: q,
      stamp: { kind: "none" },
      v2Meta: "none",
      opened: null,
      migration: null,
    });
    expect(probes.v1.map(({ metaKey }) => metaKey)).toEqual(
      V1_PREFIXES.flatMap((prefix) => [`${prefix}:${q}:meta`, `${prefix}:{${q}}:meta`]),
    );
    for (const place of probes.v1)
      expect(place).toMatchObject({ meta: { kind: "none" }, bare: [] });
  });

  test("what stands there is told by type: text, hash, another", async () => {
    await redis.set(stampKey(q), "echomq:2.0.0");
    await redis.hset(unitKey(q, "meta"), { version: "echomq:2.0.0", opened: "7" });
    await redis.hset(reserveKey("migration", q), { run: "r1", phase: "copy" });
    await redis.hset(`bull:${q}:meta`, { version: "bullmq:5.65.1" });
    await redis.hset(`{bull}:${q}:meta`, { "opts.maxLenEvents": "9" });
    await redis.set(`bull:{${q}}:meta`, "echomq:moved:r1:done:q");
    await redis.rpush(`emq:${q}:meta`, "x");
    await redis.set(`bull:${q}:id`, "3");
    await redis.rpush(`bull:${q}:wait`, "1");
    const probes = await probe();
    expect(probes).toMatchObject({
      stamp: { kind: "string", text: "echomq:2.0.0" },
      v2Meta: "hash",
      opened: "7",
      migration: { run: "r1", phase: "copy" },
    });
    const at = (key: string) => probes.v1.find(({ metaKey }) => metaKey === key);
    expect(at(`bull:${q}:meta`)).toMatchObject({
      meta: { kind: "hash", version: "bullmq:5.65.1" },
      bare: [`bull:${q}:id`, `bull:${q}:wait`],
    });
    expect(at(`{bull}:${q}:meta`)?.meta).toEqual({ kind: "hash", version: null });
    expect(at(`bull:{${q}}:meta`)?.meta).toEqual({
      kind: "string",
      text: "echomq:moved:r1:done:q",
    });
    expect(at(`emq:${q}:meta`)?.meta.kind).toBe("other");
  });

  test("a stamp and a v2:meta of another type do not pass for none", async () => {
    await redis.hset(stampKey(q), "version", "bullmq:5.65.1");
    await redis.set(unitKey(q, "meta"), "x");
    expect(await probe()).toMatchObject({
      stamp: { kind: "hash", version: "bullmq:5.65.1" },
      v2Meta: "other",
    });
    await redis.del(stampKey(q));
    await redis.zadd(stampKey(q), 1, "x");
    expect((await probe()).stamp.kind).toBe("other");
    await redis.del(stampKey(q));
    await redis.set(stampKey(q), "");
    expect((await probe()).stamp).toEqual({ kind: "string", text: "" });
  });

  test("a refused probe is an error that names the missing right", async () => {
    const server = await startServer({ engine });
    onTestFinished(() => server.stop());
    const own = new Redis(server.url);
    onTestFinished(() => own.disconnect());
    await own.call("ACL", "SETUSER", "app", "on", ">pw", `~emq:{${q}}:*`, "~{emq}:*", "+@all");
    const limited = await openDriver(server.url.replace("//", "//app:pw@"));
    onTestFinished(() => limited.close("now"));
    const error: unknown = await probe(limited).catch((reason: unknown) => reason);
    expect(isEchoMQError(error, "NOPERM")).toBe(true);
    expect(String(error)).toContain(`GET on bull:${q}:meta`);
    await own.call("ACL", "SETUSER", "app", "allkeys", "-exists");
    await expect(probe(limited)).rejects.toMatchObject({ code: "NOPERM" });
  });

  test("a pipeline that lost its connection is that loss, not an answer", async () => {
    const closing = await openDriver((await sharedServer(engine)).url);
    await closing.close("now");
    await expect(probe(closing)).rejects.toMatchObject({ fault: "closed" });
  });
});
