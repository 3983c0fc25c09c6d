import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { capacityScript } from "../../src/index.js";
import { type Bench, closeBench, ENGINES, openBench } from "../support/bench.js";

const FULL = "EMQFULL the queue is full: its limit is 3";

describe.each(ENGINES)("a length limit on %s", (engine) => {
  let base: Bench;
  let b: Bench;
  beforeAll(async () => {
    base = await openBench(engine);
  });
  beforeEach(async () => {
    b = await base.fresh();
    await b.run.run(capacityScript, { q: b.q, args: { most: 3 } });
  });
  afterAll(() => closeBench(base));

  test("counts what waits, with a priority, delayed or neither; each item has its own answer", async () => {
    await b.add(["a", { id: "p", priority: 2 }]);
    const told = await b.add([{ id: "d", delay: 5 }, "x", "a", { id: "a", data: "[]" }]);
    expect(told).toEqual(["added", FULL, "added", "duplicate"]);
    expect(await b.redis.exists(b.job("x"))).toBe(0);
    expect(await b.set("delayed")).toEqual(["d"]);
  });

  test("refuses all of a call or none where it is asked to", async () => {
    await b.add(["a"]);
    const whole = b.add(["b", "c", "x"], undefined, 1);
    await expect(whole).rejects.toMatchObject({ code: "EMQFULL", detail: FULL.slice(8) });
    expect(await b.waiting()).toEqual(["a"]);
    expect(await b.add(["b", "c"], undefined, 1)).toEqual(["added", "added"]);
  });

  test("running jobs make room, and what comes back is never refused", async () => {
    await b.add(["a", "b", "c"]);
    expect(await b.claim(2)).toEqual(["a", "b"]);
    expect(await b.add(["d", "e", "f"])).toEqual(["added", "added", FULL]);
    await b.finish([
      { id: "a", how: "retry" },
      { id: "b", how: "release" },
    ]);
    expect(await b.waiting()).toEqual(["b", "c", "d", "e", "a"]);
  });

  test("deduplication: dropped, replaced and kept back jobs need no room", async () => {
    await b.add([{ id: "r", dedup: { id: "r" } }]);
    await b.claim(1);
    await b.add([{ id: "d", delay: 5, dedup: { id: "d" } }, "a", "b"]);
    const told = await b.add([
      { id: "x", dedup: { id: "d" } },
      { id: "y", delay: 5, dedup: { id: "d", replace: true } },
      { id: "z", dedup: { id: "r", last: true } },
      { id: "n", dedup: { id: "n" } },
      { id: "n", dedup: { id: "n" } },
    ]);
    expect(told).toEqual(["deduplicated d", "replaced d", "held r", FULL, FULL]);
    expect(await b.redis.exists(b.record("n"))).toBe(0);
    await b.finish([{ id: "r", dedup: "r" }]);
    expect(await b.waiting()).toEqual(["a", "b", "z"]);
  });

  test("0 lifts it, and a broken one is none", async () => {
    for (const text of ["nan", "0", "-1", "x", ""]) {
      b = await base.fresh();
      await b.redis.hset(b.unit("meta"), "limit", text);
      expect(await b.add(["a", "b"]), text).toEqual(["added", "added"]);
    }
    await b.run.run(capacityScript, { q: b.q, args: { most: 0 } });
    expect(await b.redis.hexists(b.unit("meta"), "limit")).toBe(0);
  });
});
