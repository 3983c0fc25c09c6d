import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { finishScript } from "../../src/index.js";
import { ALL, type Bench, closeBench, ENGINES, openBench, T } from "../support/bench.js";

describe.each(ENGINES)("finish on %s", (engine) => {
  let base: Bench;
  let b: Bench;
  beforeAll(async () => {
    base = await openBench(engine);
  });
  beforeEach(async () => {
    b = await base.fresh();
  });
  afterAll(() => closeBench(base));

  const claimed = async (ids: readonly string[], priority = 0): Promise<void> => {
    await b.add(ids.map((id) => ({ id, priority })));
    await b.claim(ids.length);
  };

  test("the five ways of one batch, each to its place", async () => {
    await claimed(["c", "f", "r", "d", "g"]);
    const reply = await b.finish(
      [
        { id: "c", how: "completed", value: "1" },
        { id: "f", how: "failed", value: "why", stack: '["s"]', atm: 2, ats: 3 },
        { id: "r", how: "retry", value: "again", atm: 4 },
        { id: "d", how: "delay", value: "later", delay: 250 },
        { id: "g", how: "release" },
      ],
      { now: T + 9 },
    );
    expect(reply).toEqual({ statuses: ["ok", "ok", "ok", "ok", "ok"], bury: [] });
    expect(await b.redis.exists(b.unit("active"), b.unit("owners"))).toBe(0);
    expect(await b.redis.zrange(b.unit("completed"), 0, -1, "WITHSCORES")).toEqual([
      "c",
      String(T + 9),
    ]);
    expect(await b.set("failed")).toEqual(["f"]);
    expect(await b.waiting()).toEqual(["g", "r"]);
    expect(await b.redis.zscore(b.unit("delayed"), "d")).toBe(String(T + 259));
    const hash = (id: string): Promise<Record<string, string>> => b.redis.hgetall(b.job(id));
    const start = { name: "job", data: "{}", timestamp: String(T) };
    const ended = { processedOn: String(T), finishedOn: String(T + 9) };
    expect(await hash("c")).toEqual({ ...start, ...ended, returnvalue: "1", atm: "1", ats: "1" });
    expect(await hash("f")).toEqual({
      ...start,
      ...ended,
      failedReason: "why",
      stacktrace: '["s"]',
      atm: "2",
      ats: "3",
    });
    expect(await hash("r")).toMatchObject({ failedReason: "again", atm: "4" });
    expect(await hash("r")).not.toHaveProperty("finishedOn");
    expect(await hash("d")).toMatchObject({ failedReason: "later", delay: "250" });
    expect(await hash("g")).toEqual(start);
    expect((await b.events()).slice(-5)).toEqual([
      "cc=1",
      "ff=why",
      "rr=again",
      `dd=${T + 259}`,
      "wg=",
    ]);
  });

  test("released jobs return ahead of the line in the order of their claim", async () => {
    await claimed(["c", "a", "b"]);
    await b.add(["behind"]);
    await b.finish(["c", "a", "b"].map((id) => ({ id, how: "release" })));
    expect(await b.waiting()).toEqual(["c", "a", "b", "behind"]);
  });

  test("released jobs of a priority return ahead of their peers in the order of their claim", async () => {
    await claimed(["c", "a", "b"], 4);
    await b.add([
      { id: "peer", priority: 4 },
      { id: "urgent", priority: 1 },
      { id: "idle", priority: 5 },
    ]);
    await b.finish(["c", "a", "b"].map((id) => ({ id, how: "release" })));
    expect(await b.set("prioritized")).toEqual(["urgent", "c", "a", "b", "peer", "idle"]);
    await b.claim(6);
    await b.finish(["c", "a"].map((id) => ({ id, how: "release" })));
    await b.add([{ id: "0", priority: 4 }]);
    expect(await b.set("prioritized")).toEqual(["c", "a", "0"]);
  });

  test("a retry goes to the back of its line, with its priority kept", async () => {
    await claimed(["a", "b"]);
    await b.add(["c"]);
    await b.finish([
      { id: "b", how: "retry" },
      { id: "a", how: "retry" },
    ]);
    expect(await b.waiting()).toEqual(["c", "b", "a"]);
    const other = b;
    b = await base.fresh();
    await claimed(["a", "b"], 2);
    await b.add([
      { id: "peer", priority: 2 },
      { id: "less", priority: 3 },
    ]);
    await b.finish([
      { id: "b", how: "retry" },
      { id: "a", how: "retry" },
    ]);
    expect(await b.set("prioritized")).toEqual(["peer", "b", "a", "less"]);
    b = other;
  });

  test("a delayed retry keeps its priority through promotion", async () => {
    await claimed(["a"], 7);
    await b.finish([{ id: "a", how: "delay", delay: 5 }]);
    await b.promote(T + 5);
    expect(await b.set("prioritized")).toEqual(["a"]);
    expect(await b.redis.hget(b.unit("priorities"), "a")).toBe("7");
  });

  test("an end clears the priority, a return keeps it; a broken one counts as none", async () => {
    await claimed(["a", "b", "x", "y", "z"], 7);
    await b.redis.hset(b.unit("priorities"), { x: "nan", y: "1e99", z: "0.5" });
    await b.finish([
      { id: "a" },
      { id: "b", how: "retry" },
      { id: "x", how: "retry" },
      { id: "y", how: "release" },
      { id: "z", how: "retry" },
    ]);
    expect(await b.redis.hget(b.unit("priorities"), "a")).toBeNull();
    expect(await b.redis.hget(b.unit("priorities"), "b")).toBe("7");
    expect(await b.set("prioritized")).toEqual(["b"]);
    expect(await b.waiting()).toEqual(["y", "x", "z"]);
  });

  test("a verdict outlives a return to the line and ends with the job", async () => {
    await claimed(["a"]);
    await b.redis.hset(b.unit("verdicts"), "a", "cancelled");
    await b.finish([{ id: "a", how: "retry" }]);
    const { claimed: again } = await b.step({ claim: 1 });
    expect(again).toEqual([{ id: "a", verdict: "cancelled", fields: [] }]);
    await b.finish([{ id: "a", how: "failed" }]);
    expect(await b.redis.exists(b.unit("verdicts"))).toBe(0);
  });

  test("a status per item: stale, another run's, twin and gone; the others go on", async () => {
    await claimed(["a", "b", "gone", "list", "ok"], 3);
    await b.redis.del(b.job("gone"), b.job("list"));
    await b.redis.rpush(b.job("list"), "x");
    const { statuses } = await b.finish([
      { id: "a" },
      { id: "a", how: "retry" },
      { id: "b", token: "other", how: "retry" },
      { id: "gone", how: "retry" },
      { id: "list", how: "release" },
      { id: "never", how: "failed" },
      { id: "ok", how: "retry" },
    ]);
    expect(statuses).toEqual([
      "ok",
      "EMQSTALE no lease",
      "EMQSTALE the lease is held by another run",
      "EMQMISSING the job is gone",
      "EMQMISSING the job is gone",
      "EMQSTALE no lease",
      "ok",
    ]);
    expect(await b.set("active")).toEqual(["b"]);
    expect(await b.set("prioritized")).toEqual(["ok"]);
    expect((await b.redis.hkeys(b.unit("priorities"))).sort()).toEqual(["b", "ok"]);
  });

  test("retention of completed and failed apart, and 0 removes at once", async () => {
    await claimed(["a", "b", "c", "d"]);
    await b.redis.sadd(b.unit("extras"), "d");
    const reply = await b.finish(
      [{ id: "a" }, { id: "b", how: "failed" }, { id: "c", how: "failed" }, { id: "d" }],
      { keepCount: 0, failCount: 1 },
    );
    expect(reply).toEqual({ statuses: ["ok", "ok", "ok", "ok"], bury: ["d", "b"] });
    expect(await b.redis.exists(b.job("a"))).toBe(0);
    expect(await b.set("failed")).toEqual(["c"]);
    expect((await b.set("trash")).sort()).toEqual(["b", "d"]);
    expect(await b.redis.exists(b.unit("completed"))).toBe(0);
  });

  test("retention by age, at most 100 of each a call", async () => {
    const old = Array.from({ length: 150 }, (_, n) => [n, `o${n}`]).flat();
    await b.redis.zadd(b.unit("completed"), ...old);
    await b.redis.zadd(
      b.unit("failed"),
      ...old.map((one) => (typeof one === "number" ? one : `f${one}`)),
    );
    await claimed(["a", "b"]);
    const { bury } = await b.finish([{ id: "a" }, { id: "b", how: "failed" }], {
      keepAge: 10,
      failAge: 10,
    });
    expect(bury).toHaveLength(200);
    expect(await b.redis.zcard(b.unit("completed"))).toBe(51);
    expect(await b.redis.zcard(b.unit("failed"))).toBe(51);
  });

  test("what returns to the line wakes a worker, and the earliest due time is told", async () => {
    await claimed(["a", "b", "c"]);
    await b.redis.del(b.unit("marker"));
    await b.finish([{ id: "a", how: "retry" }]);
    expect(await b.set("marker")).toEqual(["a"]);
    await b.finish([{ id: "b", how: "delay", delay: 90 }]);
    await b.finish([{ id: "c", how: "delay", delay: 70 }]);
    expect(await b.redis.zscore(b.unit("marker"), "\u0001")).toBe(String(T + 70));
  });

  test("under a limit every end wakes whoever waits for the room", async () => {
    await b.add(["a", "b", "c", { id: "p", priority: 1 }]);
    await b.redis.hset(b.unit("meta"), "concurrency", "1");
    await b.claim(1);
    await b.redis.del(b.unit("marker"));
    await b.finish([{ id: "a", how: "failed" }]);
    expect(await b.set("marker")).toEqual(["b", "c"]);
  });

  test("a paused queue takes returns and wakes nobody", async () => {
    await claimed(["a", "b"]);
    await b.redis.del(b.unit("marker"));
    await b.redis.hset(b.unit("meta"), { paused: "1", concurrency: "5" });
    await b.finish([
      { id: "a", how: "release" },
      { id: "b", how: "delay", delay: 5 },
    ]);
    expect(await b.set("marker")).toEqual([]);
  });

  test("500 of a batch with every field", async () => {
    const ids = Array.from({ length: 500 }, (_, n) => `${n}`);
    await claimed(ids, 3);
    const how = ["completed", "failed", "retry", "delay", "release"] as const;
    const { statuses } = await b.finish(
      ids.map((id, n) => ({ id, how: how[n % 5] ?? "retry", delay: 9, value: "v", stack: "[]" })),
    );
    expect(new Set(statuses)).toEqual(new Set(["ok"]));
    const counts = ["completed", "failed", "prioritized", "delayed"] as const;
    const sizes = await Promise.all(counts.map((unit) => b.redis.zcard(b.unit(unit))));
    expect(sizes).toEqual([100, 100, 200, 100]);
  });

  test("an unknown way, a delay past the end of time and rows short of jobs are refused", async () => {
    await claimed(["a"]);
    const refused = (row: object, now = T): Promise<unknown> =>
      expect(b.finish([{ id: "a", ...row }], { now })).rejects.toMatchObject({ code: "EMQARG" });
    await refused({ how: "" });
    await refused({ how: "Completed" });
    await refused({ how: "delay", delay: 8_640_000_000_000_000 });
    await refused({}, ALL);
    const args = { now: T, keepCount: 1, keepAge: 0, failCount: 1, failAge: 0 };
    const short = { q: b.q, args, jobs: ["a"], dedups: [], items: [] };
    await expect(b.run.run(finishScript, short)).rejects.toMatchObject({ code: "EMQARG" });
    expect(await b.set("active")).toEqual(["a"]);
  });
});
