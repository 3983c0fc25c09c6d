import { kindKey } from "@echomq/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { buryScript, countsScript, getScript, initScript, pauseScript } from "../../src/index.js";
import { type Bench, closeBench, ENGINES, openBench, T } from "../support/bench.js";

describe.each(ENGINES)("a queue on %s", (engine) => {
  let base: Bench;
  let b: Bench;
  beforeAll(async () => {
    base = await openBench(engine);
  });
  beforeEach(async () => {
    b = await base.fresh();
  });
  afterAll(() => closeBench(base));

  describe("init", () => {
    const init = (now = T) => b.run.run(initScript, { q: b.q, args: { now } });

    test("creates stamp, version and opened in one step, once", async () => {
      await b.redis.del(b.stamp, b.unit("meta"));
      expect(await init()).toBe("created");
      expect(await b.redis.get(b.stamp)).toBe("echomq:2.0.0");
      const meta = { version: "echomq:2.0.0", opened: String(T) };
      expect(await b.redis.hgetall(b.unit("meta"))).toEqual(meta);
      expect(await init(T + 1)).toBe("open");
      expect(await b.redis.hgetall(b.unit("meta"))).toEqual(meta);
    });

    test("opens a queue whose stamp stands there already, of a newer minor too", async () => {
      await b.redis.set(b.stamp, "echomq:2.9.1");
      await b.redis.hdel(b.unit("meta"), "opened");
      expect(await init(T + 7)).toBe("opened");
      expect(await b.redis.hget(b.unit("meta"), "opened")).toBe(String(T + 7));
      expect(await b.redis.get(b.stamp)).toBe("echomq:2.9.1");
    });

    test("never puts a stamp over v2:meta that lost its own", async () => {
      await b.redis.del(b.stamp);
      await expect(init()).rejects.toMatchObject({ code: "EMQFENCE", detail: "none" });
      expect(await b.redis.exists(b.stamp)).toBe(0);
    });

    test("a meta of another type is refused and nothing written", async () => {
      await b.redis.del(b.stamp, b.unit("meta"));
      await b.redis.set(b.unit("meta"), "x");
      await expect(init()).rejects.toMatchObject({ code: "WRONGTYPE" });
      expect(await b.redis.exists(b.stamp)).toBe(0);
    });
  });

  describe("pause", () => {
    const pause = (paused: number) => b.run.run(pauseScript, { q: b.q, args: { paused } });

    test("answers whether it changed anything, and tells each change once", async () => {
      expect(await pause(0)).toBe(0);
      expect(await pause(1)).toBe(1);
      expect(await pause(1)).toBe(0);
      expect(await b.redis.hget(b.unit("meta"), "paused")).toBe("1");
      expect(await pause(0)).toBe(1);
      expect(await b.redis.hexists(b.unit("meta"), "paused")).toBe(0);
      expect(await b.events()).toEqual(["p=", "q="]);
    });

    test.each([0, 4])("resuming wakes workers for what waits, priority %d", async (priority) => {
      await pause(1);
      await b.add(Array.from({ length: 20 }, (_, n) => ({ id: `${n}`, priority })));
      expect(await b.set("marker")).toEqual([]);
      await pause(0);
      expect(await b.set("marker")).toHaveLength(16);
      expect(await b.claim(1)).toEqual(["0"]);
    });

    test("another number than 0 and 1 never reaches the wire", async () => {
      await expect(pause(2)).rejects.toMatchObject({ code: "VALIDATION", option: "pause.paused" });
    });
  });

  test("counts the jobs of every state", async () => {
    await b.add(["a", "b", "c", { id: "p", priority: 1 }, { id: "d", delay: 5 }, "e", "f"]);
    await b.claim(3);
    await b.finish([{ id: "a" }, { id: "b", how: "failed" }]);
    await b.redis.zadd(b.unit("waiting-children"), 1, "w");
    await b.redis.zadd(b.unit("held"), 1, "k", 2, "l");
    await b.redis.hset(b.unit("meta"), "paused", "1");
    expect(await b.run.run(countsScript, { q: b.q, args: {} })).toEqual({
      waiting: 2,
      prioritized: 1,
      delayed: 1,
      active: 1,
      completed: 1,
      failed: 1,
      "waiting-children": 1,
      held: 2,
      paused: 1,
    });
  });

  test("get names the state, the owner and every field; what is gone or in trash is null", async () => {
    await b.add(["r", "c", "f", "w", { id: "p", priority: 1 }, { id: "d", delay: 5 }, "k", "x"]);
    await b.claim(3);
    await b.finish([{ id: "c" }, { id: "f", how: "failed" }]);
    for (const id of ["k", "x"]) await b.redis.lrem(b.unit("wait"), 0, id);
    await b.redis.zadd(b.unit("waiting-children"), T, "k");
    await b.redis.zadd(b.unit("trash"), T, "x");
    const jobs = ["r", "c", "f", "w", "p", "d", "k", "x", "never"];
    const found = await b.run.run(getScript, { q: b.q, args: {}, jobs });
    expect(found.map((job) => job?.state)).toEqual([
      "active",
      "completed",
      "failed",
      "waiting",
      "prioritized",
      "delayed",
      "waiting-children",
      undefined,
      undefined,
    ]);
    expect(found.map((job) => job?.owner ?? null).filter(Boolean)).toEqual([`${T}:t`]);
    expect(found[3]?.fields).toEqual(["name", "job", "data", "{}", "timestamp", String(T)]);
    expect(await b.run.run(getScript, { q: b.q, args: {}, jobs: [] })).toEqual([]);
  });

  describe("bury", () => {
    const KINDS = ["job", "logs", "deps", "results", "failures"] as const;
    const keys = (id: string): string[] => KINDS.map((kind) => kindKey(b.q, kind, id));
    const fill = async (id: string): Promise<void> => {
      for (const key of keys(id)) await b.redis.hset(key, "x", "1");
      await b.redis.sadd(b.unit("extras"), id);
    };
    const bury = (jobs: string[]) =>
      b.run.run(buryScript, { q: b.q, args: {}, jobs, dedups: [], locks: [] });

    test("removes every key of what is in trash, whatever its type", async () => {
      await fill("a");
      await b.redis.del(kindKey(b.q, "logs", "a"));
      await b.redis.rpush(kindKey(b.q, "logs", "a"), "line");
      await b.redis.zadd(b.unit("trash"), T, "a", T, "bare");
      expect(await bury(["a", "bare", "a"])).toBe(2);
      expect(await b.redis.exists(...keys("a"), b.unit("trash"), b.unit("extras"))).toBe(0);
    });

    test("leaves alone what its own ZREM did not find", async () => {
      await fill("a");
      await b.redis.zadd(b.unit("trash"), T, "other");
      expect(await bury(["a"])).toBe(0);
      expect(await b.redis.exists(...keys("a"), b.unit("trash"), b.unit("extras"))).toBe(7);
    });

    test("an id taken out of trash by a new add is not buried by a late sweep", async () => {
      await fill("a");
      await b.redis.zadd(b.unit("trash"), T, "a");
      await b.add([{ id: "a", own: true }]);
      expect(await bury(["a"])).toBe(0);
      expect(await b.redis.exists(b.job("a"))).toBe(1);
      expect(await b.claim(1)).toEqual(["a"]);
    });
  });
});
