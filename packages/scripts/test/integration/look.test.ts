import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  countScript,
  heartbeatScript,
  inspectScript,
  mendScript,
  metricsScript,
  pageScript,
  tailScript,
  workersScript,
} from "../../src/index.js";
import { type Bench, closeBench, ENGINES, openBench, T } from "../support/bench.js";

const MINUTE: number = Math.floor(T / 60_000);

describe.each(ENGINES)("scripts that look, on %s", (engine) => {
  let base: Bench;
  let b: Bench;

  beforeAll(async () => {
    base = await openBench(engine);
  });
  afterAll(() => closeBench(base));

  const fresh = async (): Promise<Bench> => {
    b = await base.fresh();
    return b;
  };
  const count = (keep: number, rows: readonly (readonly [number, number, number])[]) =>
    b.run.run(countScript, {
      q: b.q,
      args: { keep },
      rows: rows.map(([minute, completed, failed]) => ({ minute, completed, failed })),
    });
  const metrics = (newest: number, most: number, kind = "completed") =>
    b.run.run(metricsScript, { q: b.q, args: { kind, newest, count: most } });

  test("counts add up per minute, and old minutes go", async () => {
    await fresh();
    await count(3, [
      [MINUTE, 2, 1],
      [MINUTE, 1, 0],
    ]);
    await count(3, [[MINUTE + 1, 4, 0]]);
    expect(await metrics(MINUTE + 1, 3)).toEqual({
      total: 7,
      last: MINUTE + 1,
      lastCount: 4,
      low: MINUTE,
      keep: 3,
      counts: [4, 3, 0],
    });
    expect(await metrics(MINUTE, 1, "failed")).toMatchObject({ total: 1, counts: [1] });
    // The minute is too old for the counts by now, and is only counted in all.
    await count(3, [
      [MINUTE + 9, 1, 0],
      [MINUTE + 1, 5, 0],
    ]);
    expect(await metrics(MINUTE + 9, 10)).toMatchObject({
      total: 13,
      low: MINUTE + 7,
      counts: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    });
    const fields = await b.redis.hkeys(b.unit("metrics:completed"));
    expect(fields.sort()).toEqual([`${MINUTE + 9}`, "keep", "last", "low", "total"]);
  });

  test("a long pause is caught up with in steps of 500 minutes", async () => {
    await fresh();
    await count(10, [[MINUTE, 1, 0]]);
    await count(10, [[MINUTE + 1_200, 1, 0]]);
    expect((await metrics(MINUTE, 1)).low).toBe(MINUTE + 500);
    await count(10, [[MINUTE + 1_200, 1, 0]]);
    await count(10, [[MINUTE + 1_200, 1, 0]]);
    expect(await metrics(MINUTE + 1_200, 1)).toMatchObject({ low: MINUTE + 1_191, counts: [3] });
  });

  test("what somebody else wrote into the counts breaks nothing", async () => {
    await fresh();
    const hash = { low: "x", last: "-1", total: "1.5", keep: "", [MINUTE]: "many" };
    await b.redis.hset(b.unit("metrics:completed"), hash);
    expect(await metrics(MINUTE, 1)).toMatchObject({ total: 0, last: 0, low: 0, counts: [0] });
    await count(5, [[MINUTE, 2, 0]]);
    expect(await metrics(MINUTE, 1)).toMatchObject({ total: 2, low: MINUTE, counts: [2] });
  });

  test("a heartbeat keeps a worker, drops the dead and takes the leaving out", async () => {
    await fresh();
    const beat = (id: string, now: number, ttl = 60_000) =>
      b.run.run(heartbeatScript, { q: b.q, args: { now, ttl, id, info: `{"id":"${id}"}` } });
    const list = (since: number, start = 0, most = 500) =>
      b.run.run(workersScript, { q: b.q, args: { since, start, count: most } });
    expect(await beat("a", T)).toBe(1);
    expect(await beat("b", T + 30_000)).toBe(2);
    expect(await beat("c", T + 60_001)).toBe(2);
    expect(await list(0)).toEqual({
      count: 2,
      workers: [
        { id: "b", seenAt: T + 30_000, info: '{"id":"b"}' },
        { id: "c", seenAt: T + 60_001, info: '{"id":"c"}' },
      ],
    });
    expect((await list(T + 60_000)).workers.map(({ id }) => id)).toEqual(["c"]);
    expect((await list(0, 1, 1)).workers.map(({ id }) => id)).toEqual(["c"]);
    expect(await beat("c", T + 60_002, 0)).toBe(1);
    expect(await b.redis.hkeys(b.unit("workers-info"))).toEqual(["b"]);
  });

  test("the tail begins behind a place, or with it, and names both ends", async () => {
    await fresh();
    const tail = (after: string, inclusive: number, most = 10) =>
      b.run.run(tailScript, { q: b.q, args: { after, inclusive, count: most } });
    expect(await tail("0-0", 0)).toEqual({ entries: [], first: "", top: "" });
    const ids: string[] = [];
    for (const n of [1, 2, 3]) {
      ids.push((await b.redis.xadd(b.unit("events"), `${n}-0`, `w${n}`, "x")) ?? "");
    }
    expect(await tail("1-0", 0)).toEqual({
      entries: [
        { id: "2-0", pairs: ["w2", "x"] },
        { id: "3-0", pairs: ["w3", "x"] },
      ],
      first: "1-0",
      top: "3-0",
    });
    expect((await tail("1-0", 1, 1)).entries.map(({ id }) => id)).toEqual(["1-0"]);
    expect((await tail("9-0", 0)).entries).toEqual([]);
    expect((await tail("0-0", 0, 0)).entries).toEqual([]);
    for (const bad of ["", "x", "1", "1-", "-1-0", "1-0-0", "99999999999999999-0"]) {
      await expect(tail(bad, 0)).rejects.toMatchObject({ code: "EMQARG" });
    }
  });

  test("a page of an unknown state is refused, and one of nothing is empty", async () => {
    await fresh();
    const page = (state: string, start: number, most: number, asc = 1) =>
      b.run.run(pageScript, { q: b.q, args: { state, start, count: most, asc } });
    await b.add(["a", "b", "c"]);
    await expect(page("wait", 0, 1)).rejects.toMatchObject({ code: "EMQARG" });
    expect(await page("waiting", 0, 0)).toEqual([]);
    expect(await page("waiting", 3, 5)).toEqual([]);
    expect(await page("waiting", 1, 5)).toEqual(["b", "c"]);
    expect(await page("waiting", 1_000_000_000, 500, 0)).toEqual([]);
    await b.claim(3, { deadline: T + 5 });
    expect(await page("active", 0, 500, 1)).toHaveLength(3);
  });

  test("a walk through wait takes few ids, and mending leaves the healthy alone", async () => {
    await fresh();
    await b.add(["a", { id: "d", delay: 5 }, { id: "p", priority: 2 }]);
    await b.claim(1);
    const before = await b.redis.zrange(b.unit("active"), 0, -1, "WITHSCORES");
    const many = Array.from({ length: 11 }, (_, n) => `${n}`);
    const seen = many.map(() => ({ waits: 0 }));
    const look = { q: b.q, args: { walk: 1 }, jobs: many, seen };
    await expect(b.run.run(inspectScript, look)).rejects.toMatchObject({ code: "EMQARG" });
    const jobs = ["a", "d", "p", "none"];
    const mended = await b.run.run(mendScript, { q: b.q, args: { now: T, least: 0 }, jobs });
    expect(mended).toEqual({ faults: [[], [], [], []], mended: [] });
    expect(await b.redis.zrange(b.unit("active"), 0, -1, "WITHSCORES")).toEqual(before);
    expect(await b.set("delayed")).toEqual(["d"]);
    expect(await b.set("prioritized")).toEqual(["p"]);
  });
});
