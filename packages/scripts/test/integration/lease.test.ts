import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { expiredScript, recoverScript, renewScript } from "../../src/index.js";
import { type Bench, closeBench, ENGINES, openBench, T } from "../support/bench.js";

const END = T + 30_000;

describe.each(ENGINES)("leases on %s", (engine) => {
  let base: Bench;
  let b: Bench;
  beforeAll(async () => {
    base = await openBench(engine);
  });
  beforeEach(async () => {
    b = await base.fresh();
  });
  afterAll(() => closeBench(base));

  const look = (now: number, limit = 100) =>
    b.run.run(expiredScript, { q: b.q, args: { now, limit } });
  const renew = (deadline: number, leases: readonly { id: string; token: string }[]) =>
    b.run.run(renewScript, { q: b.q, args: { deadline }, leases });

  describe("begin", () => {
    test("marks each as begun and returns its fields and verdict", async () => {
      await b.add([{ id: "a", data: "[1]" }, "b"]);
      await b.claim(2);
      await b.redis.hset(b.unit("verdicts"), "b", "cancelled");
      const [a, other] = await b.begin(["a", "b"]);
      expect(a).toMatchObject({ status: "ok", verdict: null });
      expect(a?.fields).toHaveLength(4);
      expect(a?.fields.slice(0, 2)).toEqual(["job", "[1]"]);
      expect(other).toMatchObject({ status: "ok", verdict: "cancelled" });
      expect(await b.redis.hgetall(b.unit("owners"))).toEqual({ a: `${T}:t!`, b: `${T}:t!` });
    });

    test("may be sent again, holds twins, and starts nothing of another token", async () => {
      await b.add(["a"]);
      await b.claim(1);
      for (let n = 0; n < 2; n++) {
        const begun = await b.begin(["a", "a"]);
        expect(begun.map(({ status }) => status)).toEqual(["ok", "ok"]);
      }
      expect(await b.redis.hget(b.unit("owners"), "a")).toBe(`${T}:t!`);
      const lost = { status: "lost", verdict: null, fields: [] };
      expect(await b.begin(["a", "never"], "other")).toEqual([lost, lost]);
      expect(await b.begin([])).toEqual([]);
      expect(await b.set("active")).toEqual(["a"]);
    });

    test("a missing hash clears the lease and the verdict", async () => {
      await b.add(["a", "b"]);
      await b.claim(2);
      await b.redis.hset(b.unit("verdicts"), "a", "cancelled");
      await b.redis.del(b.job("a"));
      const begun = await b.begin(["a", "b"]);
      expect(begun.map(({ status }) => status)).toEqual(["missing", "ok"]);
      expect(await b.set("active")).toEqual(["b"]);
      expect(await b.redis.exists(b.unit("verdicts"))).toBe(0);
      expect(await b.redis.hkeys(b.unit("owners"))).toEqual(["b"]);
    });
  });

  describe("renew", () => {
    test("moves what is owned, names what is lost and tells verdicts", async () => {
      await b.add(["a", "b", "c"]);
      await b.claim(2);
      await b.claim(1, { token: "u" });
      await b.redis.hset(b.unit("verdicts"), { b: "cancelled", c: "cancelled" });
      const reply = await renew(T + 90_000, [
        { id: "a", token: "t" },
        { id: "b", token: "t" },
        { id: "c", token: "t" },
        { id: "never", token: "t" },
        { id: "", token: "" },
      ]);
      expect(reply).toEqual({
        lost: ["c", "never", ""],
        verdicts: [{ id: "b", why: "cancelled" }],
      });
      expect(await b.redis.zscore(b.unit("active"), "a")).toBe(String(-(T + 90_000)));
      expect(await b.redis.zscore(b.unit("active"), "c")).toBe(String(-END));
      expect(await renew(T, [])).toEqual({ lost: [], verdicts: [] });
    });

    test("holds the largest whole number, twins and 500 leases", async () => {
      const ids = Array.from({ length: 500 }, (_, n) => `${n}`);
      await b.add(ids);
      await b.claim(500);
      const leases = ids.map((id) => ({ id, token: "t" }));
      leases[499] = { id: "0", token: "t" };
      expect((await renew(Number.MAX_SAFE_INTEGER, leases)).lost).toEqual([]);
      const score = Number(await b.redis.zscore(b.unit("active"), "0"));
      expect(score).toBe(-Number.MAX_SAFE_INTEGER);
      expect(await b.redis.zcard(b.unit("active"))).toBe(500);
    });

    test("takes back a lease that is over but not yet recovered", async () => {
      await b.add(["a"]);
      await b.claim(1);
      expect((await look(END)).leases).toHaveLength(1);
      await renew(END + 1, [{ id: "a", token: "t" }]);
      expect((await look(END)).leases).toEqual([]);
    });
  });

  describe("expired", () => {
    test("a lease is over at its deadline; the reverse of the answer is the order of the line", async () => {
      await b.add(["a", "c", "b", "z"]);
      await b.claim(1, { token: "t.1", deadline: T + 1 });
      await b.claim(2, { token: "t.2", deadline: T + 2 });
      await b.claim(1, { token: "t.10", deadline: T + 3 });
      expect((await look(T)).leases).toEqual([]);
      const { leases } = await look(T + 2);
      expect(leases.map(({ id }) => id)).toEqual(["b", "c", "a"]);
      expect(leases[2]).toEqual({ id: "a", score: String(-(T + 1)), owner: `${T}:t.1` });
      expect((await look(T + 9, 2)).leases.map(({ id }) => id)).toEqual(["z", "b"]);
      expect((await look(T + 9, 0)).leases).toEqual([]);
    });

    test("claims of one ms are told apart by their token, and each keeps its places", async () => {
      await b.add(["z", "y", "x", "w", "v", "u"]);
      for (const token of ["w.9", "w.z", "w.10"]) await b.claim(2, { token });
      const ids = (await look(END)).leases.map(({ id }) => id);
      expect(ids.reverse()).toEqual(["z", "y", "x", "w", "v", "u"]);
    });

    test("the order of the claims outlives renewals that move the deadlines past each other", async () => {
      await b.add(["z", "y", "x", "w", "v"]);
      await b.claim(3, { token: "a.1" });
      await b.claim(2, { token: "b.1", now: T + 1 });
      await renew(T + 40_000, [{ id: "v", token: "b.1" }]);
      await renew(T + 50_000, [{ id: "w", token: "b.1" }]);
      await renew(T + 60_000, [
        { id: "x", token: "a.1" },
        { id: "z", token: "a.1" },
      ]);
      await renew(T + 35_000, [{ id: "y", token: "a.1" }]);
      expect((await look(T + 59_999)).leases.map(({ id }) => id)).toEqual(["v", "w", "y"]);
      const ids = (await look(T + 60_000)).leases.map(({ id }) => id).reverse();
      expect(ids).toEqual(["z", "y", "x", "w", "v"]);
      await b.recover(ids, T + 60_000);
      expect(await b.waiting()).toEqual(["z", "y", "x", "w", "v"]);
    });

    test("500 of one claim keep their places, and all end with its last millisecond", async () => {
      const ids = Array.from({ length: 500 }, (_, n) => `${(n * 7) % 500}`);
      await b.add(ids);
      expect(await b.claim(500)).toEqual(ids);
      expect((await look(END - 1, 500)).leases).toEqual([]);
      expect((await look(END, 500)).leases.map(({ id }) => id).reverse()).toEqual(ids);
    });

    test("a deadline further ahead than any lease is named, and cut to the longest", async () => {
      const day = 86_400_000;
      await b.add(["a", "b", "c"]);
      await b.claim(3, { deadline: T + day });
      expect((await look(T)).leases).toEqual([]);
      const far = { a: 9e15, c: T + day + 1, b: Number.POSITIVE_INFINITY };
      for (const [id, ends] of Object.entries(far)) {
        await b.redis.zadd(
          b.unit("active"),
          ends === Number.POSITIVE_INFINITY ? "-inf" : -ends,
          id,
        );
      }
      const { leases } = await look(T);
      expect(leases.map(({ id }) => id).sort()).toEqual(["a", "b", "c"]);
      expect(await b.recover(["a", "b", "c"], T)).toEqual(["clamped", "clamped", "clamped"]);
      for (const id of ["a", "b", "c"]) {
        expect(await b.redis.zscore(b.unit("active"), id)).toBe(String(-(T + day)));
      }
      expect((await look(T)).leases).toEqual([]);
      // The run goes on, and ends by its own token.
      expect(await renew(T + 5, [{ id: "b", token: "t" }])).toEqual({ lost: [], verdicts: [] });
      expect(await b.redis.zscore(b.unit("active"), "b")).toBe(String(-(T + 5)));
      expect(await b.recover(["a", "c"], T + day)).toEqual(["released", "released"]);
    });

    test("a deadline without end is renewed as any other", async () => {
      await b.add(["a"]);
      await b.claim(1);
      await b.redis.zadd(b.unit("active"), "-inf", "a");
      expect((await renew(T + 5, [{ id: "a", token: "t" }])).lost).toEqual([]);
      expect(await b.redis.zscore(b.unit("active"), "a")).toBe(String(-(T + 5)));
    });

    test("names trash up to the limit, none for 0, and the next due time", async () => {
      await b.redis.zadd(
        b.unit("trash"),
        ...Array.from({ length: 9 }, (_, n) => [n, `t${n}`]).flat(),
      );
      expect((await look(T, 3)).trash).toEqual(["t0", "t1", "t2"]);
      expect((await look(T, 0)).trash).toEqual([]);
      expect((await look(T)).due).toBe(0);
      await b.add([
        { id: "d", delay: 70 },
        { id: "e", delay: 70 },
      ]);
      expect((await look(T)).due).toBe(T + 70);
    });

    test("sees a line nobody was told of, unless the queue is paused", async () => {
      expect((await look(T)).unmarked).toBe(0);
      await b.add([{ id: "a", priority: 3 }]);
      expect((await look(T)).unmarked).toBe(0);
      await b.redis.del(b.unit("marker"));
      expect((await look(T)).unmarked).toBe(1);
      await b.redis.hset(b.unit("meta"), "paused", "1");
      expect((await look(T)).unmarked).toBe(0);
    });

    test("an owner that is gone is told as empty, and recover takes it so", async () => {
      await b.add(["a"]);
      await b.claim(1);
      await b.redis.del(b.unit("owners"));
      expect((await look(END)).leases).toEqual([{ id: "a", score: String(-END), owner: "" }]);
      expect(await b.recover(["a"], END)).toEqual(["released"]);
      expect(await b.waiting()).toEqual(["a"]);
    });
  });

  describe("recover", () => {
    test("not begun is free, begun is charged", async () => {
      await b.add(["a", "b"]);
      await b.claim(2, { candidates: ["b"] });
      expect(await b.recover(["a", "b"], END)).toEqual(["released", "stalled"]);
      expect(await b.redis.hmget(b.job("a"), "stc", "ats", "processedOn")).toEqual([
        null,
        null,
        null,
      ]);
      expect(await b.redis.hmget(b.job("b"), "stc", "ats", "processedOn")).toEqual([
        "1",
        "1",
        String(T),
      ]);
      expect(await b.redis.exists(b.unit("active"), b.unit("owners"))).toBe(0);
      expect((await b.events()).slice(-1)).toEqual(["sb="]);
    });

    test("beyond the budget it must end: a verdict, and back in line all the same", async () => {
      await b.add(["a"]);
      for (const verdict of [null, "stalled"]) {
        await b.claim(1);
        await b.begin(["a"]);
        expect(await b.recover(["a"], END, 1)).toEqual(["stalled"]);
        expect(await b.redis.hget(b.unit("verdicts"), "a")).toBe(verdict);
        expect(await b.waiting()).toEqual(["a"]);
      }
      const { claimed } = await b.step({ claim: 1 });
      expect(claimed[0]?.verdict).toBe("stalled");
    });

    test("budget 0: the first stall is the last", async () => {
      await b.add(["a"]);
      await b.claim(1, { candidates: ["a"] });
      await b.recover(["a"], END, 0);
      expect(await b.redis.hget(b.unit("verdicts"), "a")).toBe("stalled");
    });

    test("the look's reverse puts a batch back in its order, ahead of the line", async () => {
      await b.add(["1", "2", "3", "4"]);
      await b.claim(2, { token: "t.1", deadline: T + 1 });
      await b.claim(1, { token: "t.2", deadline: T + 2 });
      const ids = (await look(T + 5)).leases.map(({ id }) => id).reverse();
      await b.recover(ids, T + 5);
      expect(await b.waiting()).toEqual(["1", "2", "3", "4"]);
    });

    test("with priorities too", async () => {
      const add = (id: string) => ({ id, priority: 9 });
      await b.add(["1", "2", "3"].map(add));
      await b.claim(3);
      await b.add(["0"].map(add));
      const ids = (await look(END)).leases.map(({ id }) => id).reverse();
      await b.recover(ids, END);
      expect(await b.set("prioritized")).toEqual(["1", "2", "3", "0"]);
    });

    test("a lease renewed, taken over or not yet over is kept; twins act once", async () => {
      await b.add(["a", "b", "c"]);
      await b.claim(3);
      const owner = `${T}:t`;
      const row = { score: String(-END), owner };
      await renew(END + 5, [{ id: "a", token: "t" }]);
      const third = { ...row, score: String(-(END + 2 / 512)) };
      const leases = [row, { ...row, owner: `${T}:other` }, third, third];
      const call = { q: b.q, jobs: ["a", "b", "c", "c"], args: { now: END, budget: 1 }, leases };
      expect(await b.run.run(recoverScript, call)).toEqual(["kept", "kept", "released", "kept"]);
      const early = { ...call, jobs: ["b"], leases: [row], args: { now: END - 1, budget: 1 } };
      expect(await b.run.run(recoverScript, early)).toEqual(["kept"]);
      for (const score of ["", "nan", "x", "0x10", "-1e400"]) {
        const odd = { ...call, jobs: ["b"], leases: [{ score, owner }] };
        expect(await b.run.run(recoverScript, odd)).toEqual(["kept"]);
      }
      expect(await b.waiting()).toEqual(["c"]);
    });

    test("a missing or foreign hash leaves every structure", async () => {
      await b.add(["a", "b"].map((id) => ({ id, priority: 2 })));
      await b.claim(2);
      await b.redis.hset(b.unit("verdicts"), "a", "cancelled");
      await b.redis.del(b.job("a"), b.job("b"));
      await b.redis.set(b.job("b"), "x");
      expect(await b.recover(["a", "b"], END)).toEqual(["missing", "missing"]);
      const units = ["active", "owners", "verdicts", "priorities", "prioritized", "wait"] as const;
      expect(await b.redis.exists(...units.map((unit) => b.unit(unit)))).toBe(0);
    });

    test("what comes back wakes a worker; not while paused", async () => {
      await b.add(["a", "b"]);
      await b.claim(2);
      await b.redis.del(b.unit("marker"));
      await b.recover(["a"], END);
      expect(await b.set("marker")).toEqual(["a"]);
      await b.redis.del(b.unit("marker"));
      await b.redis.hset(b.unit("meta"), "paused", "1");
      await b.recover(["b"], END);
      expect(await b.set("marker")).toEqual([]);
    });
  });
});
