import type { RedisDriver } from "@echomq/scripts";
import { ioredisDriver } from "@echomq/scripts/ioredis";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Engine,
  startServer,
  strictDriver,
  type TestServer,
  uniqueQueue,
} from "../../src/index.js";

const engines: Engine[] = ["redis", "valkey"];
const REFUSAL =
  /can't access at least one of the keys|ACL failure in script|No permissions to access a key/;
const HOSTILE = [
  "a*b",
  "a?b",
  "a[b]c",
  "a\\b",
  "a^b-c",
  "a b",
  "a\tb",
  "a\0b",
  "ключ-{q}:x",
  "~a",
  "%R~a",
];

async function make(url: string): Promise<RedisDriver> {
  return ioredisDriver(new Redis(url, { lazyConnect: true }));
}

describe.each(engines)("strict mode on %s", (engine) => {
  let server: TestServer;
  let driver: RedisDriver;

  beforeAll(async () => {
    server = await startServer({ engine });
    driver = await strictDriver({ url: server.url, make });
  });

  afterAll(async () => {
    await driver?.close();
    await server?.stop();
  });

  test("a declared key is allowed, an undeclared one refused, both ways", async () => {
    const [open, hidden] = [uniqueQueue("open"), uniqueQueue("hidden")];
    const write = "return redis.call('SET', KEYS[1], ARGV[1])";
    expect(await driver.command(["EVAL", write, "1", open, "1"])).toBe("OK");
    const reach = "return redis.call(ARGV[1], ARGV[2])";
    await expect(driver.command(["EVAL", reach, "1", open, "GET", hidden])).rejects.toThrow(
      REFUSAL,
    );
    await expect(driver.command(["EVAL", reach, "1", open, "DEL", hidden])).rejects.toThrow(
      REFUSAL,
    );
    // What one call declared is no right of the next.
    expect(await driver.command(["GET", hidden])).toBe(null);
    await expect(driver.command(["EVAL", reach, "0", "GET", hidden])).rejects.toThrow(REFUSAL);
  });

  test.each(HOSTILE)("a key like %j is allowed and opens no other", async (key) => {
    const own = `${uniqueQueue("h")}${key}`;
    expect(await driver.command(["SET", own, "1"])).toBe("OK");
    expect(await driver.command(["GET", own])).toBe("1");
    const other = `${own.slice(0, -1)}zz${own.slice(-1)}`;
    const reach = "return redis.call('GET', ARGV[1])";
    await expect(driver.command(["EVAL", reach, "1", own, other])).rejects.toThrow(REFUSAL);
  });

  test("a pipeline is unrolled: each command has the rights to its own keys", async () => {
    const [a, b] = [uniqueQueue("a"), uniqueQueue("b")];
    const steal = ["EVAL", "return redis.call('GET', ARGV[1])", "1", b, a];
    const outcomes = await driver.pipeline([
      ["SET", a, "1"],
      ["SET", b, "2"],
      steal,
      ["MGET", a, b],
    ]);
    expect(outcomes.map((outcome) => outcome.ok)).toEqual([true, true, false, true]);
    expect(outcomes[3]).toEqual({ ok: true, value: ["1", "2"] });
  });

  test("calls at the same time each keep their rights", async () => {
    const keys = Array.from({ length: 40 }, () => uniqueQueue("k"));
    const write = "return redis.call('INCRBY', KEYS[1], ARGV[1])";
    const calls = keys.map((key, index) =>
      driver.command(["EVAL", write, "1", key, String(index)]),
    );
    expect(await Promise.all(calls)).toEqual(keys.map((_, index) => index));
  });

  test("a forked lane is strict and waits beside the main one", async () => {
    const lane = await driver.fork("blocking");
    const [key, other] = [uniqueQueue("z"), uniqueQueue("z")];
    const waiting = lane.command(["BZPOPMIN", key, "20"]);
    expect(await driver.command(["ZADD", key, "1", "m"])).toBe(1);
    expect(await waiting).toEqual([key, "m", "1"]);
    const reach = "return redis.call('GET', ARGV[1])";
    await expect(lane.command(["EVAL", reach, "1", key, other])).rejects.toThrow(REFUSAL);
    await lane.close();
  });

  test("a command whose keys are unknown is refused before it is sent", async () => {
    await expect(driver.command(["SORT", "a"])).rejects.toThrow(/does not know the keys of SORT/);
  });

  test("closing leaves no user and no connection", async () => {
    const admin = new Redis(server.url);
    const users = async (): Promise<number> => {
      const list = (await admin.call("ACL", "LIST")) as string[];
      return list.filter((line) => line.includes("echomq-strict")).length;
    };
    const before = await users();
    const own = await strictDriver({ url: server.url, make });
    const lane = await own.fork("lease");
    expect(await users()).toBe(before + 2);
    const last = lane.command(["SET", uniqueQueue(), "1"]);
    await lane.close("drain");
    expect(await last).toBe("OK");
    await own.close("now");
    expect(await users()).toBe(before);
    await expect(own.command(["PING"])).rejects.toThrow();
    expect(await users()).toBe(before);
    admin.disconnect();
  });
});

test("a server that allows no user management is told apart", async () => {
  await using server = await startServer({ args: ["--rename-command", "ACL", ""] });
  await expect(strictDriver({ url: server.url, make })).rejects.toThrow(/right to run ACL SETUSER/);
});
