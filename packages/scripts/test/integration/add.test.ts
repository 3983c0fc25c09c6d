import { isEchoMQError } from "@echomq/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { addScript } from "../../src/index.js";
import { type Bench, closeBench, ENGINES, openBench, T } from "../support/bench.js";

describe.each(ENGINES)("add on %s", (engine) => {
  let base: Bench;
  let b: Bench;
  beforeAll(async () => {
    base = await openBench(engine);
  });
  beforeEach(async () => {
    b = await base.fresh();
  });
  afterAll(() => closeBench(base));

  test("jobs without a priority leave in the order they came, over batches", async () => {
    await b.add(["c", "a"]);
    await b.add(["b"]);
    expect(await b.waiting()).toEqual(["c", "a", "b"]);
    expect(await b.claim(3)).toEqual(["c", "a", "b"]);
  });

  test("the hash holds what was given and nothing for what was not", async () => {
    await b.add([{ id: "a", name: "n", data: "[1]" }]);
    expect(await b.redis.hgetall(b.job("a"))).toEqual({
      name: "n",
      data: "[1]",
      timestamp: String(T),
    });
    await b.add([{ id: "b", opts: "{}", delay: 5, priority: 7 }]);
    expect(await b.redis.hgetall(b.job("b"))).toEqual({
      name: "job",
      data: "{}",
      timestamp: String(T),
      opts: "{}",
      delay: "5",
      priority: "7",
    });
    expect(await b.redis.hgetall(b.unit("priorities"))).toEqual({ b: "7" });
  });

  test("newest first: each goes ahead of all that stand there", async () => {
    await b.add(["a", { id: "b", lifo: true }, { id: "c", lifo: true }, "d"]);
    await b.add([{ id: "e", lifo: true }]);
    expect(await b.waiting()).toEqual(["e", "c", "b", "a", "d"]);
  });

  test("a smaller number is first; equal priorities keep their order, over batches", async () => {
    await b.add([
      { id: "z", priority: 2 },
      { id: "y", priority: 1 },
      { id: "x", priority: 2 },
    ]);
    await b.add([
      { id: "w", priority: 1 },
      { id: "last", priority: 2_097_151 },
      { id: "a", priority: 2 },
    ]);
    expect(await b.claim(9)).toEqual(["y", "w", "z", "x", "a", "last"]);
  });

  test("newest first holds within a priority too", async () => {
    await b.add([
      { id: "a", priority: 3 },
      { id: "b", priority: 3, lifo: true },
      { id: "c", priority: 3, lifo: true },
      { id: "d", priority: 2 },
    ]);
    await b.add([{ id: "e", priority: 3, lifo: true }]);
    expect(await b.set("prioritized")).toEqual(["d", "e", "c", "b", "a"]);
  });

  test("the sequence wraps without leaving its priority", async () => {
    await b.redis.set(b.unit("pc"), "4294967294");
    await b.add([
      { id: "a", priority: 5 },
      { id: "b", priority: 5 },
      { id: "c", priority: 6 },
    ]);
    expect(await b.redis.get(b.unit("pc"))).toBe("1");
    const score = await b.redis.zscore(b.unit("prioritized"), "b");
    expect(Math.floor(Number(score) / 2 ** 32)).toBe(5);
  });

  test.each([
    [T, 120],
    [Date.UTC(2050, 0), 120],
    [Date.UTC(9999, 0), 30],
  ])("delayed jobs of one time keep their order, at %d too: %d of them", async (due, count) => {
    const ids = Array.from({ length: count }, (_, n) => `${(n * 7919) % 1_000}-${n}`);
    const rows = ids.map((id) => ({ id, timestamp: due - 1_000, delay: 1_000 }));
    await b.add(rows.slice(0, 20));
    await b.add(rows.slice(20));
    await b.add([
      { id: "before", timestamp: due - 1, delay: 1 },
      { id: "after", timestamp: due, delay: 1 },
    ]);
    expect(await b.set("delayed")).toEqual([...ids, "before", "after"]);
    expect((await b.promote(due)).moved).toBe(count + 1);
    expect(await b.waiting()).toEqual([...ids, "before"]);
  });

  test("more equal times than a score can tell apart stay within their millisecond", async () => {
    await b.redis.zadd(b.unit("delayed"), String(T + 1_000 + 4_095 / 4_096), "full");
    await b.add([{ id: "more", delay: 1_000 }]);
    expect(Math.floor(Number(await b.redis.zscore(b.unit("delayed"), "more")))).toBe(T + 1_000);
  });

  test("the same id twice is one job: resent is added, other content a duplicate", async () => {
    expect(await b.add(["a"])).toEqual(["added"]);
    expect(await b.add(["a"])).toEqual(["added"]);
    expect(await b.add([{ id: "a", data: "[]" }])).toEqual(["duplicate"]);
    expect(await b.add([{ id: "a", name: "other" }])).toEqual(["duplicate"]);
    expect(await b.add([{ id: "a", timestamp: T + 1 }])).toEqual(["duplicate"]);
    expect(await b.waiting()).toEqual(["a"]);
    expect(await b.events()).toEqual(["wa=job", "ua=", "ua=", "ua="]);
  });

  test("twins in one batch see each other", async () => {
    const batch = ["a", { id: "a", data: "[]" }, "a", { id: "a", data: "[]" }, "b"];
    expect(await b.add(batch)).toEqual(["added", "duplicate", "added", "duplicate", "added"]);
    expect(await b.waiting()).toEqual(["a", "b"]);
    expect(await b.redis.hget(b.job("a"), "data")).toBe("{}");
  });

  test("twins of a refused duplicate are refused too", async () => {
    await b.add(["a"]);
    const other = { id: "a", data: "[]" };
    expect(await b.add([other, other, "a"])).toEqual(["duplicate", "duplicate", "added"]);
  });

  test("a given id in trash comes back as a new job, without the old one's keys", async () => {
    const logs = `emq:{${b.q}}:v2:logs:a`;
    await b.redis.hset(b.job("a"), { name: "old", data: "1", timestamp: "1", failedReason: "x" });
    await b.redis.rpush(logs, "line");
    await b.redis.zadd(b.unit("trash"), T, "a");
    await b.redis.sadd(b.unit("extras"), "a");
    await b.redis.hset(b.unit("priorities"), "a", "4");
    const twins = [
      { id: "first", own: true },
      { id: "a", own: true },
      { id: "a", own: true },
    ];
    expect(await b.add(twins)).toEqual(["added", "added", "added"]);
    expect(await b.redis.hgetall(b.job("a"))).toEqual({
      name: "job",
      data: "{}",
      timestamp: String(T),
    });
    expect(await b.redis.exists(logs, b.unit("trash"), b.unit("extras"))).toBe(0);
    expect(await b.redis.exists(b.unit("priorities"))).toBe(0);
    expect(await b.waiting()).toEqual(["first", "a"]);
  });

  test("a minted id in trash: resent it is done, with other content minted anew", async () => {
    await b.redis.zadd(b.unit("trash"), T, "gone", T, "a");
    await b.redis.hset(b.job("a"), { name: "job", data: "{}", timestamp: String(T) });
    expect(await b.add(["gone", "a"])).toEqual(["added", "added"]);
    expect(await b.add([{ id: "a", data: "[]" }])).toEqual(["duplicate"]);
    expect(await b.waiting()).toEqual([]);
    expect(await b.set("trash")).toEqual(["a", "gone"]);
  });

  test("a batch of mixed rows is refused whole when one is out of range", async () => {
    const late = { id: "b", timestamp: 8_640_000_000_000_000, delay: 1 };
    await expect(b.add(["a", late])).rejects.toMatchObject({ code: "EMQARG" });
    expect(await b.redis.exists(b.job("a"), b.unit("wait"))).toBe(0);
  });

  test("a given id needs its namesake's keys, and rows as many as jobs", async () => {
    const item = { name: "n", data: "1", opts: "", timestamp: T, delay: 0, priority: 0 };
    const call = (jobs: string[], namesakes: string[], flags: number[]) =>
      b.run.run(addScript, {
        q: b.q,
        args: { now: T, whole: 0 },
        jobs,
        namesakes,
        dedups: [],
        holders: [],
        locks: [],
        items: flags.map((flag) => ({ ...item, flags: flag })),
      });
    const refused = { code: "EMQARG" };
    await expect(call(["a"], [], [2])).rejects.toMatchObject({ ...refused, detail: "namesakes" });
    await expect(call(["a"], ["b"], [2])).rejects.toMatchObject(refused);
    await expect(call(["a"], ["a"], [0])).rejects.toMatchObject(refused);
    await expect(call(["a", "b"], [], [0])).rejects.toMatchObject({ ...refused, detail: "items" });
    await expect(call(["a"], [], [0, 0])).rejects.toMatchObject(refused);
    expect(await call([], [], [])).toEqual([]);
    expect(await b.redis.exists(b.job("a"))).toBe(0);
  });

  test("500 jobs with every field fit one call, and their events split at 100", async () => {
    const ids = Array.from({ length: 500 }, (_, n) => `${n}`);
    const rows = ids.map((id, n) => ({
      id,
      own: true,
      opts: '{"a":1}',
      delay: n % 3 === 0 ? 5 : 0,
      priority: n % 3 === 1 ? 9 : 0,
    }));
    expect(new Set(await b.add(rows))).toEqual(new Set(["added"]));
    expect(await b.redis.xlen(b.unit("events"))).toBe(5);
    expect(await b.events()).toHaveLength(500);
    expect(await b.redis.zcard(b.unit("marker"))).toBe(17);
  });

  test("a stream entry stays under 64 KB, and a long payload is left to the hash", async () => {
    const name = "n".repeat(8_000);
    await b.add(Array.from({ length: 20 }, (_, n) => ({ id: `j${n}`, name })));
    await b.add([{ id: "long", name: "n".repeat(8_193) }]);
    const entries = await b.redis.xrange(b.unit("events"), "-", "+");
    for (const [, pairs] of entries) expect(pairs.join("").length).toBeLessThanOrEqual(65_736);
    expect(entries.length).toBe(4);
    expect((await b.events()).at(-1)).toBe("Wlong=");
  });

  test("ids that look like options, numbers or patterns are ids", async () => {
    const ids = [
      "-1",
      "XX",
      "NX",
      "CH",
      "INCR",
      "0",
      "1e3",
      "+inf",
      "nan",
      "%d+",
      "^a$",
      "*",
      "(1",
    ];
    const odd = [...ids, "LIMIT", "a:b", "a b", "!", "😀", "__proto__", "completed", "meta"];
    await b.add(odd);
    expect(await b.claim(50)).toEqual(odd);
    const begun = await b.begin(odd);
    expect(begun.map(({ status }) => status)).toEqual(odd.map(() => "ok"));
    const reply = await b.finish(odd.map((id) => ({ id, how: "retry" })));
    expect(new Set(reply.statuses)).toEqual(new Set(["ok"]));
    expect(await b.waiting()).toEqual(odd);
  });

  test("waiting ids arm the marker up to 16, the next due time once", async () => {
    await b.add(Array.from({ length: 30 }, (_, n) => `${n}`));
    expect(await b.set("marker")).toHaveLength(16);
    await b.redis.del(b.unit("marker"));
    await b.add([
      { id: "later", delay: 9_000 },
      { id: "soon", delay: 5_000 },
    ]);
    const marker = (): Promise<string[]> => b.redis.zrange(b.unit("marker"), 0, -1, "WITHSCORES");
    expect(await marker()).toEqual(["\u0001", String(T + 5_000)]);
    await b.redis.del(b.unit("marker"));
    await b.add([{ id: "after", delay: 6_000 }]);
    expect(await marker()).toEqual([]);
  });

  test("a paused queue takes jobs and wakes nobody", async () => {
    await b.redis.hset(b.unit("meta"), "paused", "1");
    await b.add(["a", { id: "d", delay: 5 }]);
    expect(await b.set("marker")).toEqual([]);
    expect(await b.waiting()).toEqual(["a"]);
  });

  test("a closing queue refuses", async () => {
    await b.redis.hset(b.unit("meta"), "closing", "1");
    const error: unknown = await b.add(["a"]).catch((reason: unknown) => reason);
    expect(isEchoMQError(error, "EMQSTATE")).toBe(true);
    expect(await b.redis.exists(b.job("a"))).toBe(0);
  });

  test("a broken sequence refuses before anything is written", async () => {
    await b.redis.set(b.unit("pc"), "1.5");
    await expect(b.add([{ id: "a", priority: 1 }])).rejects.toMatchObject({ code: "EMQSTATE" });
    expect(await b.redis.exists(b.job("a"))).toBe(0);
  });

  test("events.max 0 writes none, a small one is exact, a broken one is the default", async () => {
    await b.redis.hset(b.unit("meta"), "events.max", "0");
    await b.add(["a"]);
    expect(await b.redis.exists(b.unit("events"))).toBe(0);
    await b.redis.hset(b.unit("meta"), "events.max", "3");
    for (let n = 0; n < 9; n++) await b.add([`b${n}`]);
    expect(await b.redis.xlen(b.unit("events"))).toBe(3);
    for (const broken of ["nan", "-1", "1.5", "inf", "1e300", "x"]) {
      await b.redis.hset(b.unit("meta"), "events.max", broken);
      await b.add([`c${broken}`]);
      expect((await b.events()).at(-1)).toBe(`wc${broken}=job`);
    }
  });
});
