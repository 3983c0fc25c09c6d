import { startServer, type TestServer } from "@echomq/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  advanceScript,
  buryScript,
  closeScript,
  expiredScript,
  purgeScript,
  redelayScript,
  removeScript,
  renewScript,
  retryScript,
} from "../../src/index.js";
import { type Bench, closeBench, ENGINES, openBench, T } from "../support/bench.js";
import { END } from "../support/population.js";
import { digest } from "../support/raw.js";

describe.each(ENGINES)("a full server, %s", (engine) => {
  let server: TestServer;
  let b: Bench;
  beforeAll(async () => {
    server = await startServer({ engine });
    b = await openBench(engine, server.url);
    await b.add(Array.from({ length: 40 }, (_, n) => `w${n}`));
    await b.add([{ id: "d", delay: 5 }]);
    await b.claim(10, { deadline: END });
    await b.redis.hset(b.job("old"), { name: "job", data: "1", timestamp: "1" });
    await b.redis.rpush(`emq:{${b.q}}:v2:logs:old`, "x".repeat(1_000));
    await b.redis.zadd(b.unit("trash"), T, "old", T, "other");
    // Scripts are known before the limit bites, as they are on a server that fills up at work.
    await b.begin([]);
    await b.finish([]);
    await b.recover([], T);
    await b.promote(T, 0);
    await b.run.run(renewScript, { q: b.q, args: { deadline: END }, leases: [] });
    await b.run.run(buryScript, { q: b.q, args: {}, jobs: [], dedups: [], locks: [] });
    const rule = { now: T, only: "", before: T };
    await b.run.run(removeScript, { q: b.q, args: rule, items: [] });
    await b.run.run(purgeScript, { q: b.q, args: { now: T, state: "waiting", limit: 0 } });
    const retried = { state: "failed", before: T, reset: 0 };
    await b.run.run(retryScript, { q: b.q, jobs: [], args: retried });
    await b.run.run(redelayScript, { q: b.q, jobs: [], args: { now: T, delay: 1 } });
    await b.run.run(advanceScript, { q: b.q, jobs: [], args: { limit: 0 } });
    await b.redis.config("SET", "maxmemory-policy", "noeviction");
    await b.redis.config("SET", "maxmemory", "1mb");
    // At 1 MB every server is over its limit at once.
    await expect(b.redis.set("probe", "1")).rejects.toThrow(/^OOM /);
  });
  afterAll(async () => {
    await closeBench(b);
    await server?.stop();
  });

  test("add is refused typed with nothing written, also for a namesake whose keys would go", async () => {
    const before = await digest(b.redis);
    const refused = { code: "OOM", transient: false, op: "add" };
    await expect(b.add(["new"])).rejects.toMatchObject(refused);
    await expect(b.add([{ id: "new", delay: 4, priority: 2 }])).rejects.toMatchObject(refused);
    await expect(b.add([{ id: "old", own: true }])).rejects.toMatchObject(refused);
    await expect(b.add(["w0", { id: "w1", data: "x" }, "new"])).rejects.toMatchObject(refused);
    expect(await digest(b.redis)).toBe(before);
  });

  test("a resent add that has nothing to write is answered", async () => {
    expect(await b.add(["w39"])).toEqual(["added"]);
  });

  test("what runs goes on: begin, renew, settle with claim, every way to finish", async () => {
    const begun = await b.begin(["w0", "w1", "w2"]);
    expect(begun.map(({ status }) => status)).toEqual(["ok", "ok", "ok"]);
    const leases = [{ id: "w1", token: "t" }];
    const renewed = await b.run.run(renewScript, { q: b.q, args: { deadline: END + 1 }, leases });
    expect(renewed.lost).toEqual([]);
    const score = Number(await b.redis.zscore(b.unit("active"), "w1"));
    expect(Math.floor(-score)).toBe(END + 1);
    const stepped = await b.step({ claim: 2, done: [{ id: "w0", value: "1" }], keepCount: 5 });
    expect(stepped).toMatchObject({ statuses: ["ok"], claimed: [{ id: "w10" }, { id: "w11" }] });
    expect((await b.step({ claim: 1, candidates: ["w12"] })).claimed[0]?.fields).not.toEqual([]);
    const { statuses } = await b.finish([
      { id: "w1" },
      { id: "w2", how: "failed", value: "why" },
      { id: "w3", how: "retry" },
      { id: "w4", how: "delay", delay: 9 },
      { id: "w5", how: "release" },
    ]);
    expect(statuses).toEqual(["ok", "ok", "ok", "ok", "ok"]);
    expect(await b.set("failed")).toEqual(["w2"]);
    expect(await b.redis.hget(b.job("w0"), "returnvalue")).toBe("1");
  });

  test("a settle without a claim, one that removes, and one that trims", async () => {
    expect((await b.step({ done: [{ id: "w10" }] })).statuses).toEqual(["ok"]);
    expect((await b.step({ done: [{ id: "w11" }], keepCount: 0 })).statuses).toEqual(["ok"]);
    expect((await b.step({ done: [{ id: "w12" }], keepCount: 1 })).bury).not.toEqual([]);
  });

  test("the sweep goes on: recover, promote and bury", async () => {
    const look = { q: b.q, args: { now: END, limit: 10 } };
    expect((await b.run.run(expiredScript, look)).leases).not.toEqual([]);
    expect(await b.recover(["w6"], END)).toEqual(["released"]);
    expect((await b.promote(T + 5)).moved).toBe(1);
    expect(
      await b.run.run(buryScript, {
        q: b.q,
        args: {},
        jobs: ["old", "other"],
        dedups: [],
        locks: [],
      }),
    ).toBe(2);
  });

  test("a marker that nobody armed is armed", async () => {
    await b.redis.del(b.unit("marker"));
    expect((await b.promote(T)).moved).toBe(0);
    expect(await b.redis.zcard(b.unit("marker"))).toBeGreaterThan(0);
  });

  test("a queue can be taken down to free the server", async () => {
    const closing = { q: b.q, args: { now: T, force: 1 } };
    expect(await b.run.run(closeScript, closing)).toBe("closed");
    await b.redis.hdel(b.unit("meta"), "closing", "paused");
  });

  test("an administrator can free the server, and bring jobs back", async () => {
    const rule = { now: T, only: "", before: T };
    const items = [{ id: "w30" }];
    expect(await b.run.run(removeScript, { q: b.q, args: rule, items })).toEqual(["ok"]);
    const page = { now: T, state: "waiting", limit: 2 };
    expect(await b.run.run(purgeScript, { q: b.q, args: page })).toHaveLength(2);
    const retried = { state: "failed", before: T, reset: 1 };
    const back = { q: b.q, jobs: ["w2"], args: retried };
    expect(await b.run.run(retryScript, back)).toEqual(["ok"]);
    const [late = ""] = await b.set("delayed");
    const delay = { q: b.q, jobs: [late], args: { now: T, delay: 9 } };
    expect(await b.run.run(redelayScript, delay)).toEqual(["ok"]);
    const now = { q: b.q, jobs: [late], args: { limit: 0 } };
    expect(await b.run.run(advanceScript, now)).toEqual({ statuses: ["ok"], moved: 1 });
  });
});
