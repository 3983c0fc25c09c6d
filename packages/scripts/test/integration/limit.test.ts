import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { limitScript, limitsScript } from "../../src/index.js";
import { type Bench, closeBench, ENGINES, openBench, T } from "../support/bench.js";

const FOREVER = String(Number.MAX_SAFE_INTEGER);

describe.each(ENGINES)("limits on %s", (engine) => {
  let base: Bench;
  let b: Bench;

  beforeAll(async () => {
    base = await openBench(engine);
  });
  afterAll(() => closeBench(base));
  beforeEach(async () => {
    b = await base.fresh();
    await b.add(["a", "b", "c", "d", "e"]);
    await b.redis.del(b.unit("marker"));
  });

  const limit = (kind: string, most: number, ms = 0) =>
    b.run.run(limitScript, { q: b.q, args: { kind, most, ms } });
  const ttl = () => b.redis.pttl(b.unit("limiter"));

  test("a window begins with its first job, and its end is the next due time", async () => {
    await limit("rate", 3, 60_000);
    await b.redis.del(b.unit("marker"));
    expect(await ttl()).toBe(-2);
    const first = await b.step({ claim: 2 });
    expect(first).toMatchObject({ reason: "", due: 0 });
    const left = await ttl();
    expect(left).toBeGreaterThan(50_000);
    const second = await b.step({ claim: 2, hints: 2 });
    expect(second.claimed.map(({ id }) => id)).toEqual(["c"]);
    expect(second.due).toBeGreaterThan(T + 50_000);
    expect(second.due).toBeLessThanOrEqual(T + 60_001);
    await b.redis.del(b.unit("marker"));
    expect(await b.step({ claim: 2, hints: 2 })).toMatchObject({
      claimed: [],
      hints: ["d", "e"],
      reason: "rate",
    });
    expect(await b.set("marker")).toEqual([]);
    expect(await b.waiting()).toEqual(["d", "e"]);
    expect(await b.redis.get(b.unit("limiter"))).toBe("3");
    await b.redis.del(b.unit("limiter"));
    expect(await b.claim(1)).toEqual(["d"]);
  });

  test("events are kept up to their limit, none at 0, and nobody is woken for it", async () => {
    await limit("events", 2);
    expect(await b.redis.hget(b.unit("meta"), "events.max")).toBe("2");
    expect(await b.set("marker")).toEqual([]);
    for (const id of ["f", "g", "h"]) await b.add([id]);
    expect(await b.redis.xlen(b.unit("events"))).toBe(2);
    await limit("events", 0);
    await b.add(["i"]);
    expect(await b.redis.xlen(b.unit("events"))).toBe(2);
    await limit("events", 5_000);
    await b.add(["j"]);
    expect(await b.redis.xlen(b.unit("events"))).toBe(3);
  });

  test("a due job that comes before the window's end is told first", async () => {
    await limit("rate", 1, 60_000);
    await b.claim(1);
    await b.add([{ id: "soon", delay: 10 }]);
    expect((await b.step({ claim: 1 })).due).toBe(T + 10);
  });

  test("settling goes on while the rate holds the queue", async () => {
    await limit("rate", 1, 60_000);
    await b.claim(1);
    expect(await b.step({ claim: 5, done: [{ id: "a" }] })).toMatchObject({
      statuses: ["ok"],
      claimed: [],
      reason: "rate",
    });
  });

  test("a worker's own rate counts in the same window; the lower of both holds", async () => {
    const own = { claim: 5, rateMax: 2, rateMs: 60_000 };
    await limit("rate", 4, 30_000);
    expect((await b.step(own)).claimed).toHaveLength(2);
    expect((await b.step(own)).reason).toBe("rate");
    expect(await b.claim(5)).toEqual(["c", "d"]);
    await limit("rate", 0);
    expect((await b.step(own)).reason).toBe("rate");
    expect(await b.claim(5)).toEqual(["e"]);
  });

  test.each([
    ["without an end", async () => b.redis.set(b.unit("limiter"), "99")],
    ["that is no number", async () => b.redis.set(b.unit("limiter"), "x", "PX", 60_000)],
  ])("a counter %s counts for nothing and is written anew", async (_what, place) => {
    await limit("rate", 3, 60_000);
    await place();
    expect(await b.claim(1)).toEqual(["a"]);
    expect(await b.redis.get(b.unit("limiter"))).toBe("1");
    expect(await ttl()).toBeGreaterThan(0);
  });

  test.each([
    ["nan", "5"],
    ["-1", "5"],
    ["x", "5"],
    ["5", "0"],
    ["5", "x"],
    ["1e300", "1"],
  ])("a stored rate of %s in %s ms is no limit", async (max, ms) => {
    await b.redis.hset(b.unit("meta"), { "rate.max": max, "rate.ms": ms });
    expect(await b.claim(9)).toHaveLength(5);
  });

  test("a hold lets nothing start, whatever the rate; what is left of it ends with it", async () => {
    await limit("hold", 0, 60_000);
    expect(await b.redis.hget(b.unit("meta"), "rate.max")).toBe("0");
    expect((await b.step({ claim: 1 })).reason).toBe("rate");
    await limit("rate", 9, 1_000);
    expect((await b.step({ claim: 1 })).reason).toBe("rate");
    await limit("rate", 0);
    expect((await b.step({ claim: 1 })).reason).toBe("rate");
    expect(await b.redis.get(b.unit("limiter"))).toBe(FOREVER);
    expect(await b.set("marker")).not.toEqual([]);
    await limit("hold", 0, 0);
    expect(await b.claim(1)).toEqual(["a"]);
    expect(await b.redis.hexists(b.unit("meta"), "rate.max")).toBe(0);
    await limit("hold", 0, 60_000);
    await b.redis.del(b.unit("limiter"));
    expect(await b.claim(1)).toEqual(["b"]);
    expect(await b.redis.hexists(b.unit("meta"), "rate.max")).toBe(0);
  });

  test("a limit wakes who waits, unless the queue is paused, and is read back", async () => {
    await limit("concurrency", 7);
    expect(await b.set("marker")).toHaveLength(5);
    await limit("rate", 2, 300);
    expect(await b.run.run(limitsScript, { q: b.q, args: {} })).toEqual({
      concurrency: "7",
      rateMax: "2",
      rateMs: "300",
      count: null,
      ttl: -2,
    });
    await b.redis.del(b.unit("marker"));
    await b.redis.hset(b.unit("meta"), "paused", "1");
    await limit("concurrency", 0);
    expect(await b.set("marker")).toEqual([]);
    expect(await b.redis.hexists(b.unit("meta"), "concurrency")).toBe(0);
  });

  test("what is no limit is refused", async () => {
    await expect(limit("speed", 1, 1)).rejects.toThrow("EMQARG kind");
    await expect(limit("rate", 1, 0)).rejects.toThrow("EMQARG ms");
  });
});
