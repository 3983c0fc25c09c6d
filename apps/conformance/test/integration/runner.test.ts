import { dumpAll, type Engine, LeakCheck, startServer, type TestServer } from "@echomq/testkit";
import { Redis } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import { DRIVERS } from "../../src/connect/drivers.js";
import { type RunOptions, runConformance } from "../../src/runner.js";
import { SCENARIOS } from "../../src/scenarios/index.js";
import { idsOf, notOk } from "../support/run.js";
import { besides, type Fault, sabotaged, withLua } from "../support/sabotage.js";

const ENGINES: readonly Engine[] = ["redis", "valkey"];

async function server(options: Parameters<typeof startServer>[0] = {}): Promise<TestServer> {
  const started = await startServer(options);
  onTestFinished(() => started.stop());
  return started;
}

function client(url: string): Redis {
  const redis = new Redis(url);
  onTestFinished(() => redis.disconnect());
  return redis;
}

function on(url: string, more: Partial<RunOptions> = {}): RunOptions {
  return { url, driver: "ioredis", strict: false, keep: false, ownServer: false, ...more };
}

/** Keys of other people: a v1 queue, a v2 queue, and things that are no queue. */
async function foreignKeys(redis: Redis): Promise<void> {
  await redis.hset("bull:orders:meta", "version", "bullmq:5.65.1");
  await redis.lpush("bull:orders:wait", "1", "2");
  await redis.set("emq:{orders-v2}:meta", "echomq:2.0.0");
  await redis.hset("emq:{orders-v2}:v2:meta", "version", "echomq:2.0.0");
  await redis.zadd("leaders", 1, "a");
  await redis.set("emq:{conformance}:meta", "echomq:2.0.0");
}

describe.each(ENGINES)("on %s", (engine) => {
  test.each(DRIVERS)("everything holds through %s and nothing is left behind", async (driver) => {
    const { url, version } = await server({ engine });
    const redis = client(url);
    await foreignKeys(redis);
    const before = await dumpAll(url);
    const report = await runConformance(on(url, { driver }));
    expect(notOk(report, false)).toEqual([]);
    expect(notOk(report, null)).toEqual([]);
    expect(report.engine).toMatchObject({ name: engine, version, mode: "standalone" });
    expect(report.driver).toBe(driver);
    expect(await dumpAll(url)).toEqual(before);
  });

  test.each(DRIVERS)("everything holds in strict mode through %s", async (driver) => {
    const { url } = await server({ engine });
    const redis = client(url);
    const users = await redis.acl("LIST");
    const report = await runConformance(on(url, { driver, strict: true, ownServer: true }));
    expect(notOk(report, false)).toEqual([]);
    expect(report.scenarios.map(({ id }) => id)).toEqual(SCENARIOS.map(({ id }) => id));
    expect(report.scenarios.find(({ id }) => id === "keys.strict")?.ok).toBe(true);
    expect(await redis.acl("LIST")).toEqual(users);
    expect(await dumpAll(url)).toEqual(new Map());
  });

  test("a user without the rights gets refused rows, not failures", async () => {
    const { url } = await server({ engine });
    const redis = client(url);
    const rights = ["~*", "&*", "+@all", "-monitor", "-acl", "-info"];
    await redis.acl("SETUSER", "poor", "on", ">secret", ...rights);
    const report = await runConformance(on(url.replace("//", "//poor:secret@"), { strict: true }));
    expect(notOk(report, false)).toEqual([]);
    const refused = notOk(report, null);
    expect(idsOf(refused)).toEqual([
      "engine.floor",
      "keyspace.shape",
      "keyspace.one-tag",
      "v1.untouched",
      "reserve.only",
      "keys.declared",
      "keys.strict",
    ]);
    expect(refused.find((line) => line.startsWith("keyspace.shape"))).toContain("MONITOR");
    expect(refused.find((line) => line.startsWith("engine.floor"))).toContain("INFO");
    expect(refused.find((line) => line.startsWith("keys.strict"))).toContain("ACL SETUSER");
    expect(await dumpAll(url)).toEqual(new Map());
  });

  test("a user without any key gets refused rows all over", async () => {
    const { url } = await server({ engine });
    await client(url).acl("SETUSER", "blind", "on", ">secret", "~none", "&*", "+@all");
    const report = await runConformance(on(url.replace("//", "//blind:secret@")));
    expect(notOk(report, false)).toEqual([]);
    expect(idsOf(notOk(report, null))).toContain("roundtrip.completed");
    expect(idsOf(notOk(report, null))).toContain("keyspace.shape");
  });
});

describe("a broken driver is found out", () => {
  const failing = async (fault: Fault, more: Partial<RunOptions> = {}): Promise<string[]> => {
    const { url } = await server();
    const decorate: RunOptions["decorate"] = (driver) => sabotaged(driver, fault);
    const report = await runConformance(on(url, { ...more, decorate }));
    // Also what a broken driver wrote for a queue of the run is gone.
    expect((await dumpAll(url, "*conformance*")).size).toBe(0);
    return notOk(report, false);
  };

  test("a script that touches an undeclared key", async () => {
    const failed = await failing(withLua("redis.call('EXISTS', KEYS[1] .. ':x')"));
    expect(idsOf(failed)).toContain("keys.declared");
    expect(failed.join("\n")).toMatch(/keys\.declared: .*EXISTS.*:meta:x, not in its KEYS/i);
  });

  test("the same, seen by the server itself", async () => {
    const fault = withLua("redis.call('EXISTS', string.gsub(KEYS[1], 'meta$', 'v2:held'))");
    const failed = await failing(fault, { strict: true });
    expect(idsOf(failed)).toContain("keys.strict");
    expect(idsOf(failed)).toContain("roundtrip.completed");
  });

  test("only the declaration is wrong, so only that row fails", async () => {
    const line = "pcall(redis.call, 'HEXISTS', (string.gsub(KEYS[1], 'meta$', 'v2:staged')), 'x')";
    expect(idsOf(await failing(withLua(line)))).toEqual(["keys.declared"]);
  });

  test("a write at a v1 prefix", async () => {
    const failed = await failing(
      besides((stamp) => ["LPUSH", stamp.replace("emq:", "bull:").replace("meta", "paused"), "1"]),
    );
    expect(idsOf(failed)).toEqual(["keyspace.shape", "v1.untouched"]);
    expect(failed.at(-1)).toMatch(/LPUSH touched bull:\{conformance-/);
  });

  test("a read at a v1 prefix that is no probe", async () => {
    const failed = await failing(
      besides((stamp) => ["LLEN", stamp.replace("emq:", "bull:").replace("meta", "wait")]),
    );
    expect(idsOf(failed)).toEqual(["keyspace.shape", "v1.untouched"]);
  });

  test("a key outside the wire, of another program", async () => {
    const failed = await failing(besides(() => ["INCR", "driver:calls"]));
    expect(idsOf(failed)).toEqual(["keyspace.shape"]);
  });

  test("an unknown unit of the queue", async () => {
    const failed = await failing(
      besides((stamp) => ["SET", stamp.replace("meta", "v2:secrets"), "1"]),
    );
    expect(idsOf(failed)).toEqual(["keyspace.shape"]);
    expect(failed[0]).toContain("v2:secrets");
  });

  test("a changed stamp", async () => {
    const failed = await failing(besides((stamp) => ["SET", stamp, "echomq:2.0.1"]));
    expect(idsOf(failed)).toContain("stamp.version");
    expect(failed.join("\n")).toContain("the stamp is echomq:2.0.1");
  });

  test("a changed copy of the stamp", async () => {
    const failed = await failing(
      besides((stamp) => ["HSET", stamp.replace("meta", "v2:meta"), "version", "echomq:1.9.9"]),
    );
    expect(idsOf(failed)).toEqual(["stamp.version"]);
  });

  test("a unit of another type", async () => {
    const failed = await failing(
      besides((stamp) => ["SADD", stamp.replace("meta", "v2:staged"), "1"]),
    );
    expect(idsOf(failed)).toEqual(["wire.types"]);
    expect(failed[0]).toMatch(/v2:staged is a set, the manifest says zset/);
  });

  test("keys of two tags in one call", async () => {
    const failed = await failing(besides((stamp) => ["EXISTS", stamp, "{emq}:version"]));
    expect(idsOf(failed)).toEqual(["keyspace.one-tag"]);
  });

  test("a key in the reserve's slot that is not of the reserve", async () => {
    const failed = await failing(besides(() => ["DEL", "{emq}:more"]));
    expect(idsOf(failed)).toEqual(["keyspace.shape", "reserve.only"]);
  });
});

test("what others do on the server meanwhile is not held against the run", async () => {
  const { url } = await server();
  const other = client(url);
  let busy = true;
  const noise = (async () => {
    for (let n = 0; busy; n += 1) {
      await other.eval("return redis.call('INCR', 'un' .. 'declared')", 0);
      await other.lpush("bull:orders:wait", n);
      await other.exists("{emq}:version", "emq:{orders}:wait", `emq:{conformance-${n}}:x`);
    }
  })();
  const report = await runConformance(on(url));
  busy = false;
  await noise;
  expect(notOk(report, false)).toEqual([]);
  expect(notOk(report, null)).toEqual([]);
  expect([...(await dumpAll(url)).keys()]).toEqual(["bull:orders:wait", "undeclared"]);
});

test("the reserve of a server in use stays as it is", async () => {
  const { url } = await server();
  const redis = client(url);
  await redis.set("{emq}:version", "echomq:2.0.0");
  await redis.hset("{emq}:nodes", "7", "9999999999999:somebody");
  const before = await dumpAll(url);
  expect(notOk(await runConformance(on(url)), false)).toEqual([]);
  expect(await dumpAll(url)).toEqual(before);
});

test("a renamed MONITOR is a refused row", async () => {
  const { url } = await server({ args: ["--rename-command", "MONITOR", "hidden"] });
  const report = await runConformance(on(url));
  expect(notOk(report, false)).toEqual([]);
  expect(idsOf(notOk(report, null))).toContain("v1.untouched");
});

test("a database and a password in the address are used", async () => {
  const { url } = await server({ args: ["--requirepass", "p@ss/word"] });
  const own = `${url.replace("//", `//:${encodeURIComponent("p@ss/word")}@`)}/3`;
  for (const driver of DRIVERS) {
    const report = await runConformance(on(own, { driver, keep: driver === "node-redis" }));
    expect(notOk(report, false)).toEqual([]);
    expect(notOk(report, null)).toEqual([]);
  }
  expect((await dumpAll(own)).size).toBeGreaterThan(0);
  expect((await dumpAll(own.replace(/3$/, "0"))).size).toBe(0);
});

test("no connection, timer or socket stays open", async () => {
  const { url } = await server();
  const check = await LeakCheck.start(url);
  for (const driver of DRIVERS) await runConformance(on(url, { driver, strict: true }));
  await check.end();
});
