import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { buryScript, getScript, holderScript, unlockScript } from "../../src/index.js";
import { type Bench, closeBench, ENGINES, type Item, openBench, T } from "../support/bench.js";

type Dedup = Omit<NonNullable<Item["dedup"]>, "id">;

describe.each(ENGINES)("deduplication on %s", (engine) => {
  let base: Bench;
  let b: Bench;
  beforeAll(async () => {
    base = await openBench(engine);
  });
  beforeEach(async () => {
    b = await base.fresh();
  });
  afterAll(() => closeBench(base));

  const row = (id: string, dedup: Dedup = {}, rest: Partial<Item> = {}): Item => ({
    id,
    dedup: { id: "d", ...dedup },
    ...rest,
  });
  const add = async (id: string, dedup: Dedup = {}, rest: Partial<Item> = {}): Promise<string> =>
    (await b.add([row(id, dedup, rest)]))[0] ?? "";
  const record = (id = "d"): Promise<Record<string, string>> => b.redis.hgetall(b.record(id));
  const exists = (id: string): Promise<number> => b.redis.exists(b.job(id));
  const bury = (id: string): Promise<number> =>
    b.run.run(buryScript, { q: b.q, args: {}, jobs: [id], dedups: ["d"], locks: [{ job: 1 }] });

  describe("simple", () => {
    test("one job stands until it ends, and the others are dropped", async () => {
      expect(await add("a")).toBe("added");
      expect(await b.redis.hget(b.job("a"), "deid")).toBe("d");
      expect(await record()).toEqual({ job: "a" });
      expect(await b.redis.pttl(b.record("d"))).toBe(-1);
      expect(await add("b")).toBe("deduplicated a");
      expect(await exists("b")).toBe(0);
      expect(await b.waiting()).toEqual(["a"]);
      expect((await b.events()).at(-1)).toBe("ua=d\nb");
    });

    test.each(["completed", "failed"])("%s releases it; a new job takes it", async (how) => {
      await add("a");
      await b.claim(1);
      expect(await add("b")).toBe("deduplicated a");
      await b.finish([{ id: "a", how, dedup: "d" }]);
      expect(await record()).toEqual({});
      expect(await add("b")).toBe("added");
    });

    test.each(["retry", "delay", "release"])("%s keeps it: the job has not ended", async (how) => {
      await add("a");
      await b.claim(1);
      await b.finish([{ id: "a", how, delay: 5, dedup: "d" }]);
      expect(await record()).toEqual({ job: "a" });
      expect(await add("b")).toBe("deduplicated a");
    });

    test("an end that keeps nothing of the job releases it too", async () => {
      await b.add([row("a"), row("x", { holder: "" }, { dedup: { id: "e" } })]);
      await b.redis.sadd(b.unit("extras"), "x");
      await b.claim(2);
      const ends = [
        { id: "a", dedup: "d" },
        { id: "x", dedup: "e" },
      ];
      expect(await b.finish(ends, { keepCount: 0 })).toMatchObject({ bury: ["x"] });
      expect([await record("d"), await record("e")]).toEqual([{}, {}]);
    });

    test("only the holder's end releases it", async () => {
      await add("a");
      await b.add(["other"]);
      await b.redis.hset(b.job("other"), "deid", "d");
      await b.claim(2);
      await b.finish([{ id: "other", dedup: "d" }]);
      expect(await record()).toEqual({ job: "a" });
      await b.finish([{ id: "a", dedup: "d", token: "stale" }]);
      expect(await record()).toEqual({ job: "a" });
    });

    test("a holder that is gone, evicted, in trash or finished holds nothing", async () => {
      const spoil: (() => Promise<unknown>)[] = [
        () => b.redis.del(b.job("a")),
        () => b.redis.zadd(b.unit("trash"), T, "a"),
        () => b.redis.hset(b.job("a"), "finishedOn", T),
        // Another job under the old id, which never asked for the record.
        () => b.redis.hdel(b.job("a"), "deid"),
        () => b.redis.hset(b.record("d"), "job", "\u0001"),
        () => b.redis.hset(b.record("d"), "job", "x".repeat(513)),
      ];
      for (const [n, break_] of spoil.entries()) {
        b = await base.fresh();
        await add("a");
        await break_();
        expect(await add("b", { holder: "a" }), `case ${n}`).toBe("added");
        expect(await record()).toEqual({ job: "b" });
      }
    });

    test("a holder whose run has lost its job is let go with what it kept back", async () => {
      await add("a");
      await b.claim(1);
      await add("b", { last: true });
      await b.redis.del(b.job("a"));
      const { statuses } = await b.finish([{ id: "a", dedup: "d" }]);
      expect(statuses).toEqual(["EMQMISSING the job is gone"]);
      expect(await record()).toEqual({ job: "b" });
      expect(await b.waiting()).toEqual(["b"]);
    });

    test("a record carried over from v1 works: holder, and none", async () => {
      await b.redis.hset(b.job("7"), { name: "n", data: "1", timestamp: "1", deid: "d" });
      await b.redis.rpush(b.unit("wait"), "7");
      await b.redis.hset(b.record("d"), "job", "7");
      expect(await add("b")).toBe("deduplicated 7");
      await b.redis.hset(b.record("e"), "job", "8");
      expect(await b.add([{ id: "c", dedup: { id: "e" } }])).toEqual(["added"]);
      await b.redis.hset(b.record("f"), "job", "9");
      await b.redis.pexpire(b.record("f"), 60_000);
      expect(await b.add([{ id: "g", dedup: { id: "f" } }])).toEqual(["deduplicated 9"]);
    });
  });

  describe("throttle", () => {
    test("stands for its time, whether the job has ended or not", async () => {
      expect(await add("a", { ttl: 60_000 })).toBe("added");
      expect(await b.redis.pttl(b.record("d"))).toBeGreaterThan(50_000);
      await b.claim(1);
      await b.finish([{ id: "a", dedup: "d" }]);
      await b.redis.del(b.job("a"));
      expect(await add("b", { ttl: 60_000, holder: "x" })).toBe("deduplicated a");
      await b.redis.pexpire(b.record("d"), 1);
      await expect.poll(() => b.redis.exists(b.record("d"))).toBe(0);
      expect(await add("b", { ttl: 60_000 })).toBe("added");
    });

    test("dropped jobs leave the time alone, and start it anew with extend", async () => {
      await add("a", { ttl: 60_000 });
      await b.redis.pexpire(b.record("d"), 30_000);
      await add("b", { ttl: 60_000 });
      expect(await b.redis.pttl(b.record("d"))).toBeLessThanOrEqual(30_000);
      expect(await add("c", { ttl: 60_000, extend: true })).toBe("deduplicated a");
      expect(await b.redis.pttl(b.record("d"))).toBeGreaterThan(30_000);
    });
  });

  describe("debounce", () => {
    const delayed = { delay: 5_000 };
    test("a delayed holder is replaced: it goes to trash, the new one is written", async () => {
      await add("a", { ttl: 60_000, replace: true }, { ...delayed, priority: 3 });
      await b.redis.pexpire(b.record("d"), 30_000);
      expect(await add("b", { ttl: 60_000, replace: true }, delayed)).toBe("replaced a");
      expect(await b.set("delayed")).toEqual(["b"]);
      expect(await b.set("trash")).toEqual(["a"]);
      expect(await b.redis.exists(b.unit("priorities"))).toBe(0);
      expect(await record()).toEqual({ job: "b" });
      // Only with extend does the time start anew.
      expect(await b.redis.pttl(b.record("d"))).toBeLessThanOrEqual(30_000);
      expect(await add("c", { ttl: 60_000, replace: true, extend: true }, delayed)).toBe(
        "replaced b",
      );
      expect(await b.redis.pttl(b.record("d"))).toBeGreaterThan(30_000);
      expect((await b.events()).slice(-3)).toEqual([`dc=${T + 5_000}`, "xb=delayed", "uc=d\nb"]);
      expect(await bury("a")).toBe(1);
      expect(await record()).toEqual({ job: "c" });
    });

    test("a holder in line or running is not replaced", async () => {
      await add("a", { replace: true });
      expect(await add("b", { replace: true })).toBe("deduplicated a");
      await b.claim(1);
      expect(await add("c", { replace: true })).toBe("deduplicated a");
    });

    test("a record that had a time has none when the new one has none", async () => {
      await add("a", { ttl: 60_000 }, delayed);
      expect(await add("b", { replace: true }, delayed)).toBe("replaced a");
      expect(await b.redis.pttl(b.record("d"))).toBe(-1);
    });
  });

  describe("keep the last while active", () => {
    const last = { last: true };
    test("a chain of three: each end puts the next in line", async () => {
      await add("a", last);
      await b.claim(1);
      expect(await add("b", last)).toBe("held a");
      expect(await record()).toEqual({ job: "a", next: "b", due: "0", front: "0" });
      expect(await b.set("held")).toEqual(["b"]);
      expect(await b.waiting()).toEqual([]);
      const call = { q: b.q, args: {}, jobs: ["b"] };
      expect((await b.run.run(getScript, call))[0]).toMatchObject({ state: "held" });
      await b.finish([{ id: "a", dedup: "d" }]);
      expect(await b.waiting()).toEqual(["b"]);
      expect(await b.set("held")).toEqual([]);
      expect(await record()).toEqual({ job: "b" });
      // In line, not running: the plain rule.
      expect(await add("x", last)).toBe("deduplicated b");
      await b.claim(1);
      expect(await add("c", last)).toBe("held b");
      await b.finish([{ id: "b", how: "failed", dedup: "d" }]);
      expect(await b.claim(1)).toEqual(["c"]);
      await b.finish([{ id: "c", dedup: "d" }]);
      expect(await record()).toEqual({});
    });

    test("a later one replaces the one kept back", async () => {
      await add("a", last);
      await b.claim(1);
      await add("b", last, { priority: 4 });
      expect(await add("c", last, { priority: 2 })).toBe("held a");
      expect(await b.set("held")).toEqual(["c"]);
      expect(await b.set("trash")).toEqual(["b"]);
      expect(await b.redis.hgetall(b.unit("priorities"))).toEqual({ c: "2" });
      expect((await b.events()).slice(-2)).toEqual(["xb=held", "ua=d\nc"]);
      await b.add([{ id: "p", priority: 2 }]);
      await b.finish([{ id: "a", dedup: "d" }]);
      expect(await b.set("prioritized")).toEqual(["p", "c"]);
    });

    test("a retry of the holder keeps it back", async () => {
      await add("a", last);
      await b.claim(1);
      await add("b", last);
      await b.finish([{ id: "a", how: "retry", dedup: "d" }]);
      expect(await record()).toMatchObject({ job: "a", next: "b" });
      expect(await b.claim(2)).toEqual(["a"]);
    });

    test("its delay counts from its add, and newest first is kept", async () => {
      await add("a", last);
      await b.claim(1);
      await add("b", last, { delay: 9_000 });
      await b.finish([{ id: "a", dedup: "d" }], { now: T + 1_000 });
      expect(await b.set("delayed")).toEqual(["b"]);
      expect(Number(await b.redis.zscore(b.unit("delayed"), "b"))).toBe(T + 9_000);
      expect(await b.redis.zscore(b.unit("marker"), "\u0001")).toBe(String(T + 9_000));
      b = await base.fresh();
      await add("a", last);
      await b.claim(1);
      await add("b", last, { delay: 500 });
      await b.add(["peer"]);
      await b.finish([{ id: "a", dedup: "d" }], { now: T + 1_000 });
      expect(await b.waiting()).toEqual(["peer", "b"]);
      b = await base.fresh();
      await add("a", last);
      await b.claim(1);
      await add("b", last, { lifo: true });
      await b.add(["peer"]);
      await b.finish([{ id: "a", dedup: "d" }]);
      expect(await b.waiting()).toEqual(["b", "peer"]);
    });

    test("a record that owes a place has no time, and extend gives it none", async () => {
      await add("a", { ttl: 60_000 });
      await b.claim(1);
      expect(await add("b", { ttl: 60_000, last: true })).toBe("held a");
      expect(await b.redis.pttl(b.record("d"))).toBe(-1);
      expect(await add("c", { ttl: 60_000, extend: true })).toBe("deduplicated a");
      expect(await b.redis.pttl(b.record("d"))).toBe(-1);
    });

    test("a resent add of the one kept back is told the same again", async () => {
      await add("a", last);
      await b.claim(1);
      await add("b", last);
      expect(await add("b", last)).toBe("held a");
      expect(await b.set("held")).toEqual(["b"]);
      expect(await b.set("trash")).toEqual([]);
    });

    test("a successor that was removed meanwhile leaves the record free", async () => {
      await add("a", last);
      await b.claim(1);
      await add("b", last);
      await b.redis.zrem(b.unit("held"), "b");
      await b.finish([{ id: "a", dedup: "d" }]);
      expect(await record()).toEqual({});
      expect(await b.waiting()).toEqual([]);
    });

    test("a successor of a holder that vanished gives way to the newer job", async () => {
      await add("a", last);
      await b.claim(1);
      await add("b", last);
      await b.redis.del(b.job("a"));
      expect(await add("c", last)).toBe("added");
      expect(await record()).toEqual({ job: "c" });
      expect(await b.set("trash")).toEqual(["b"]);
      expect(await b.set("held")).toEqual([]);
    });

    test("broken fields of a record put the successor in line all the same", async () => {
      for (const due of ["nan", "inf", "x", "-1", "9e99"]) {
        b = await base.fresh();
        await add("a", last);
        await b.claim(1);
        await add("b", last, { priority: 3 });
        await b.redis.hset(b.record("d"), { due, front: "x" });
        await b.redis.hset(b.unit("priorities"), "b", "junk");
        await b.finish([{ id: "a", dedup: "d" }]);
        expect(await b.waiting(), due).toEqual(["b"]);
      }
    });
  });

  describe("items of one call see each other", () => {
    test("the same deduplication id twice is one job", async () => {
      const twins = [row("a"), row("b"), { id: "c", dedup: { id: "e" } }, row("f")];
      expect(await b.add(twins)).toEqual(["added", "deduplicated a", "added", "deduplicated a"]);
      expect(await b.waiting()).toEqual(["a", "c"]);
    });

    test("replace: the last stands, and none of the others was ever written", async () => {
      await add("z", {}, { delay: 9 });
      const rows = ["a", "b", "c"].map((id) => row(id, { replace: true }, { delay: 9 }));
      expect(await b.add(rows)).toEqual(["deduplicated c", "deduplicated c", "replaced z"]);
      expect(await b.set("delayed")).toEqual(["c"]);
      expect(await b.set("trash")).toEqual(["z"]);
      expect(await Promise.all(["a", "b", "c"].map(exists))).toEqual([0, 0, 1]);
      expect(await record()).toEqual({ job: "c" });
    });

    test("keep the last: the last is kept back, and none of the others was ever written", async () => {
      await add("z", { last: true });
      await b.claim(1);
      const rows = ["a", "b", "c"].map((id) => row(id, { last: true }));
      expect(await b.add(rows)).toEqual(["held z", "held z", "held z"]);
      expect(await b.set("held")).toEqual(["c"]);
      expect(await Promise.all(["a", "b", "c"].map(exists))).toEqual([0, 0, 1]);
      expect(await b.set("trash")).toEqual([]);
    });

    test("twins by id and by deduplication id together", async () => {
      const twins = [row("a"), row("a"), row("a", {}, { data: "[]" }), row("b"), row("b")];
      const told = ["added", "added", "duplicate", "deduplicated a", "deduplicated a"];
      expect(await b.add(twins)).toEqual(told);
      // An id that stands is answered before its deduplication id is looked at.
      expect(await add("a", {}, { data: "[]" })).toBe("duplicate");
      expect(await add("a")).toBe("added");
      expect(await b.waiting()).toEqual(["a"]);
    });

    test("an id given again after it was replaced in the same call", async () => {
      const replace = { replace: true };
      const rows = [row("a", replace, { delay: 9 }), row("b", replace, { delay: 9 })];
      expect(await b.add([...rows, row("a", replace, { delay: 9 })])).toEqual([
        "deduplicated a",
        "deduplicated a",
        "added",
      ]);
      expect(await b.set("delayed")).toEqual(["a"]);
    });

    test("two ends of one call, holder and not", async () => {
      await add("a", { last: true });
      await b.add([{ id: "o", dedup: { id: "e" } }]);
      await b.claim(2);
      await add("b", { last: true });
      const ends = [
        { id: "o", dedup: "e" },
        { id: "a", dedup: "d" },
        { id: "a", dedup: "d" },
      ];
      const { statuses } = await b.finish(ends);
      expect(statuses).toEqual(["ok", "ok", "EMQSTALE no lease"]);
      expect(await b.waiting()).toEqual(["b"]);
      expect([await record("e"), await record("d")]).toEqual([{}, { job: "b" }]);
    });
  });

  test("a pointer that moved refuses the whole call and names the holder", async () => {
    await add("a b");
    for (const holder of ["", "other"]) {
      const call = b.add(["plain", row("b", { holder })]);
      await expect(call).rejects.toMatchObject({ code: "EMQRETRY", detail: "a b" });
    }
    expect(await exists("plain")).toBe(0);
    const look = (holder: string): Promise<readonly (string | null)[]> =>
      b.run.run(holderScript, { q: b.q, args: {}, dedups: ["d"], holders: [holder] });
    await expect(look("x")).rejects.toMatchObject({ code: "EMQRETRY", detail: "a b" });
    expect(await look("a b")).toEqual(["a b"]);
    await b.redis.del(b.job("a b"));
    expect(await look("a b")).toEqual([null]);
  });

  describe("removal", () => {
    test("a job removed before it ended takes its record along, a throttle too", async () => {
      for (const ttl of [0, 60_000]) {
        b = await base.fresh();
        await add("a", { ttl });
        await b.redis.lrem(b.unit("wait"), 1, "a");
        await b.redis.zadd(b.unit("trash"), T, "a");
        expect(await bury("a")).toBe(1);
        expect(await record()).toEqual({});
      }
    });

    test("a job that ended leaves its throttle", async () => {
      await add("a", { ttl: 60_000 });
      await b.claim(1);
      await b.finish([{ id: "a", dedup: "d" }]);
      await b.redis.zrem(b.unit("completed"), "a");
      await b.redis.zadd(b.unit("trash"), T, "a");
      await bury("a");
      expect(await record()).toEqual({ job: "a" });
    });

    test("the record of another holder, and of a job no longer in trash, is left alone", async () => {
      await add("a");
      await b.redis.hset(b.job("x"), { name: "n", deid: "d" });
      await b.redis.zadd(b.unit("trash"), T, "x");
      expect(await bury("x")).toBe(1);
      expect(await bury("a")).toBe(0);
      expect(await record()).toEqual({ job: "a" });
    });

    test("what a removed holder kept back goes with it", async () => {
      await add("a", { last: true });
      await b.claim(1);
      await add("b", { last: true }, { priority: 3 });
      await b.redis.zrem(b.unit("active"), "a");
      await b.redis.zadd(b.unit("trash"), T, "a");
      await bury("a");
      expect(await b.set("held")).toEqual([]);
      expect(await b.set("trash")).toEqual(["b"]);
      expect(await b.redis.exists(b.unit("priorities"))).toBe(0);
    });

    test("freeing a record puts what it kept back in line, for its holder only if named", async () => {
      const free = (job: string): Promise<number> =>
        b.run.run(unlockScript, { q: b.q, args: { now: T, job }, dedups: ["d"] });
      expect(await free("")).toBe(0);
      await add("a", { last: true });
      await b.claim(1);
      await add("b", { last: true });
      expect(await free("b")).toBe(0);
      expect(await free("a")).toBe(1);
      expect(await b.waiting()).toEqual(["b"]);
      expect(await b.set("marker")).toContain("b");
      await b.finish([{ id: "a", dedup: "d" }]);
      expect(await add("c")).toBe("added");
      expect(await free("")).toBe(1);
    });

    test("an old namesake's record is not held by the new job of that id", async () => {
      await add("a", {}, { own: true });
      await b.redis.lrem(b.unit("wait"), 1, "a");
      await b.redis.zadd(b.unit("trash"), T, "a");
      expect(await b.add([{ id: "a", own: true, data: "[]" }])).toEqual(["added"]);
      expect(await add("b")).toBe("added");
    });
  });
});
