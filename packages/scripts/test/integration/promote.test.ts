import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Bench, closeBench, ENGINES, openBench, T } from "../support/bench.js";

describe.each(ENGINES)("promote on %s", (engine) => {
  let base: Bench;
  let b: Bench;
  beforeAll(async () => {
    base = await openBench(engine);
  });
  beforeEach(async () => {
    b = await base.fresh();
  });
  afterAll(() => closeBench(base));

  test("moves what is due by the ms, in order, and says when the next is due", async () => {
    await b.add([
      { id: "c", delay: 20 },
      { id: "b", delay: 10 },
      { id: "a", delay: 20 },
      { id: "d", delay: 21 },
    ]);
    await b.add(["first"]);
    expect(await b.promote(T + 9)).toEqual({ moved: 0, due: T + 10 });
    expect(await b.promote(T + 20)).toEqual({ moved: 3, due: T + 21 });
    expect(await b.waiting()).toEqual(["first", "b", "c", "a"]);
    expect(await b.promote(T + 21)).toEqual({ moved: 1, due: 0 });
    expect(await b.promote(T + 22)).toEqual({ moved: 0, due: 0 });
  });

  test("a job of a priority goes behind its peers without a look at its hash", async () => {
    await b.add([
      { id: "d", delay: 1, priority: 3 },
      { id: "e", delay: 1, priority: 1 },
      { id: "peer", priority: 3 },
    ]);
    await b.redis.del(b.job("d"));
    await b.promote(T + 1);
    expect(await b.set("prioritized")).toEqual(["e", "peer", "d"]);
  });

  test("moves at most the limit, and none for 0", async () => {
    await b.add(["a", "b", "c"].map((id) => ({ id, delay: 1 })));
    expect(await b.promote(T + 1, 0)).toEqual({ moved: 0, due: T + 1 });
    expect(await b.promote(T + 1, 2)).toEqual({ moved: 2, due: T + 1 });
    expect(await b.waiting()).toEqual(["a", "b"]);
  });

  test("500 of a batch, events and marker bounded", async () => {
    await b.add(Array.from({ length: 500 }, (_, n) => ({ id: `${n}`, delay: 1, priority: 1 })));
    await b.redis.del(b.unit("events"), b.unit("marker"));
    expect(await b.promote(T + 1)).toEqual({ moved: 500, due: 0 });
    expect(await b.redis.xlen(b.unit("events"))).toBe(5);
    expect(await b.redis.zcard(b.unit("marker"))).toBe(16);
  });

  test("arms for what it moved, and for a line nobody was told of", async () => {
    await b.add([{ id: "d", delay: 1 }, "a"]);
    await b.redis.del(b.unit("marker"));
    await b.promote(T);
    expect(await b.set("marker")).toEqual(["a"]);
    await b.promote(T + 1);
    expect(await b.set("marker")).toEqual(["a", "d"]);
    await b.claim(2);
    await b.redis.del(b.unit("marker"));
    await b.add([{ id: "p", priority: 1 }]);
    await b.redis.del(b.unit("marker"));
    await b.promote(T);
    expect(await b.set("marker")).toEqual(["p"]);
  });

  test("a paused queue promotes and wakes nobody", async () => {
    await b.redis.hset(b.unit("meta"), "paused", "1");
    await b.add([{ id: "d", delay: 1 }]);
    await b.promote(T + 1);
    expect(await b.waiting()).toEqual(["d"]);
    expect(await b.set("marker")).toEqual([]);
  });

  test("times at the end of what a double holds neither raise nor move early", async () => {
    const end = 8_640_000_000_000_000;
    await b.add([{ id: "a", timestamp: end - 5, delay: 5 }]);
    expect(await b.promote(end - 1)).toEqual({ moved: 0, due: end });
    expect(await b.promote(Number.MAX_SAFE_INTEGER)).toMatchObject({ moved: 1 });
  });
});
