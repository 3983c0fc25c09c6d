import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { stepScript } from "../../src/index.js";
import { type Bench, closeBench, ENGINES, openBench, T } from "../support/bench.js";

const NO_LEASE = "EMQSTALE no lease";

describe.each(ENGINES)("step on %s", (engine) => {
  let base: Bench;
  let b: Bench;
  beforeAll(async () => {
    base = await openBench(engine);
  });
  beforeEach(async () => {
    b = await base.fresh();
  });
  afterAll(() => closeBench(base));

  test("claims in order, leases what it claims, and touches no hash", async () => {
    await b.add(["a", "b", { id: "p", priority: 1 }]);
    const reply = await b.step({ claim: 2, token: "tok-1", deadline: T + 500 });
    expect(reply).toEqual({
      statuses: [],
      claimed: [
        { id: "a", verdict: null, fields: [] },
        { id: "b", verdict: null, fields: [] },
      ],
      hints: [],
      bury: [],
      reason: "",
      due: 0,
    });
    expect(await b.redis.zrange(b.unit("active"), 0, -1, "WITHSCORES")).toEqual(
      // The first place ends first, by a part of a millisecond.
      ["b", String(-(T + 500 + 1 / 512)), "a", String(-(T + 500))],
    );
    expect(await b.redis.hgetall(b.unit("owners"))).toEqual({
      a: `${T}:tok-1`,
      b: `${T}:tok-1`,
    });
    expect(await b.redis.hkeys(b.job("a"))).toEqual(["name", "data", "timestamp"]);
    expect(await b.claim(5)).toEqual(["p"]);
  });

  test("hints name what comes next, from both lines, as many as asked", async () => {
    await b.add(["a", "b", "c", { id: "p", priority: 1 }, { id: "q", priority: 2 }]);
    expect((await b.step({ claim: 1, hints: 3 })).hints).toEqual(["b", "c", "p"]);
    expect((await b.step({ claim: 2, hints: 5 })).hints).toEqual(["p", "q"]);
    expect((await b.step({ claim: 1, hints: 1 })).hints).toEqual(["q"]);
    expect((await b.step({ claim: 0, hints: 5 })).hints).toEqual([]);
  });

  test("a candidate that is popped brings its fields and counts as begun", async () => {
    await b.add([{ id: "a", data: "[1]", opts: "{}" }, "b", "c"]);
    const { claimed } = await b.step({ claim: 2, candidates: ["a", "c"] });
    const [a, other] = claimed;
    // Fields the job does not have at the end of the list are left out.
    expect(a?.fields).toEqual(["job", "[1]", "{}", String(T)]);
    expect(other).toEqual({ id: "b", verdict: null, fields: [] });
    expect(await b.redis.hgetall(b.unit("owners"))).toEqual({ a: `${T}:t!`, b: `${T}:t` });
  });

  test("a candidate without a hash, or of another type, comes bare and is cleared by begin", async () => {
    await b.add(["gone", "list", "fine"]);
    await b.redis.del(b.job("gone"), b.job("list"));
    await b.redis.rpush(b.job("list"), "x");
    const { claimed } = await b.step({ claim: 3, candidates: ["gone", "list", "fine"] });
    expect(claimed.map(({ fields }) => fields.length)).toEqual([0, 0, 4]);
    const begun = await b.begin(["gone", "list", "fine"]);
    expect(begun.map(({ status }) => status)).toEqual(["missing", "missing", "ok"]);
    expect(await b.set("active")).toEqual(["fine"]);
    expect(await b.redis.hkeys(b.unit("owners"))).toEqual(["fine"]);
  });

  test("settles and claims in one step; a lost lease of one does not fail the others", async () => {
    await b.add(["a", "b", "c", "d", "next"]);
    await b.claim(4);
    await b.redis.del(b.job("d"));
    const reply = await b.step({
      claim: 1,
      token: "u",
      now: T + 5,
      done: [
        { id: "a", value: '"v"', atm: 3 },
        { id: "b", token: "another" },
        { id: "never" },
        { id: "c", value: "" },
        { id: "d" },
        { id: "a" },
      ],
    });
    expect(reply.statuses).toEqual([
      "ok",
      "EMQSTALE the lease is held by another run",
      NO_LEASE,
      "ok",
      "EMQMISSING the job is gone",
      NO_LEASE,
    ]);
    expect(reply.claimed.map(({ id }) => id)).toEqual(["next"]);
    expect(await b.redis.hgetall(b.job("a"))).toMatchObject({
      returnvalue: '"v"',
      finishedOn: String(T + 5),
      processedOn: String(T),
      atm: "3",
      ats: "1",
    });
    expect(await b.redis.hexists(b.job("c"), "returnvalue")).toBe(0);
    expect(await b.set("completed")).toEqual(["a", "c"]);
    expect((await b.set("active")).sort()).toEqual(["b", "next"]);
    expect((await b.redis.hkeys(b.unit("owners"))).sort()).toEqual(["b", "next"]);
  });

  test("a settled job is settled once: the second answers EMQSTALE", async () => {
    await b.add(["a"]);
    await b.claim(1);
    expect((await b.step({ done: [{ id: "a" }] })).statuses).toEqual(["ok"]);
    expect((await b.step({ done: [{ id: "a" }] })).statuses).toEqual([NO_LEASE]);
    expect((await b.events()).filter((text) => text.startsWith("ca"))).toHaveLength(1);
  });

  test("a verdict comes with the claim, and ends with the settlement", async () => {
    await b.add(["a", "b"]);
    await b.redis.hset(b.unit("verdicts"), "a", "cancelled");
    const { claimed } = await b.step({ claim: 2, candidates: ["b"] });
    expect(claimed.map(({ verdict }) => verdict)).toEqual(["cancelled", null]);
    await b.step({ done: [{ id: "a" }] });
    expect(await b.redis.exists(b.unit("verdicts"))).toBe(0);
  });

  describe("retention", () => {
    const settled = async (count: number): Promise<string[]> => {
      const ids = Array.from({ length: count }, (_, n) => `${n}`.padStart(4, "0"));
      await b.add(ids);
      await b.claim(count);
      return ids;
    };

    test("0 removes at once; what owns other keys goes through trash", async () => {
      const [a = "", c = ""] = await settled(2);
      await b.redis.sadd(b.unit("extras"), c);
      const reply = await b.step({ done: [{ id: a }, { id: c }], keepCount: 0 });
      expect(reply).toMatchObject({ statuses: ["ok", "ok"], bury: [c] });
      expect(await b.redis.exists(b.job(a), b.unit("completed"))).toBe(0);
      expect(await b.redis.exists(b.job(c))).toBe(1);
      expect(await b.set("trash")).toEqual([c]);
    });

    test("by count, the oldest first", async () => {
      const ids = await settled(5);
      const reply = await b.step({ done: ids.map((id) => ({ id })), keepCount: 2 });
      expect(reply.bury).toEqual(ids.slice(0, 3));
      expect(await b.set("completed")).toEqual(ids.slice(3));
      expect(await b.set("trash")).toEqual(ids.slice(0, 3));
    });

    test("by age, up to the ms; 0 is for ever", async () => {
      await settled(0);
      await b.redis.zadd(b.unit("completed"), 0, "x", T - 1_001, "y", T - 1_000, "z", T - 999, "w");
      await b.add(["a", "c"]);
      await b.claim(2);
      expect((await b.step({ done: [{ id: "a" }], keepAge: 0 })).bury).toEqual([]);
      const reply = await b.step({ done: [{ id: "c" }], keepAge: 1_000 });
      expect(reply.bury).toEqual(["x", "y", "z"]);
      expect(await b.set("completed")).toEqual(["w", "a", "c"]);
    });

    test("count holds also where something is beyond the age", async () => {
      await b.redis.zadd(b.unit("completed"), 1, "x", T - 3, "y", T - 2, "z", T - 1, "w");
      await b.add(["a"]);
      await b.claim(1);
      const reply = await b.step({ done: [{ id: "a" }], keepAge: 1_000, keepCount: 2 });
      expect(reply.bury).toEqual(["x", "y", "z"]);
    });

    test("100 a call, by age and by count", async () => {
      const old = Array.from({ length: 250 }, (_, n) => [n, `o${n}`]).flat();
      await b.redis.zadd(b.unit("completed"), ...old);
      await b.add(["a", "c"]);
      await b.claim(2);
      const first = await b.step({ done: [{ id: "a" }], keepAge: 1_000, keepCount: 1 });
      expect(first.bury).toHaveLength(100);
      expect((await b.step({ done: [{ id: "c" }], keepCount: 2 })).bury).toHaveLength(100);
      expect(await b.redis.zcard(b.unit("completed"))).toBe(52);
    });
  });

  test("a paused queue settles and gives nothing; the reason says so", async () => {
    await b.add(["a", "b", { id: "d", delay: 700 }]);
    await b.claim(1);
    await b.redis.hset(b.unit("meta"), "paused", "1");
    const reply = await b.step({ claim: 5, hints: 5, done: [{ id: "a" }] });
    expect(reply).toMatchObject({
      statuses: ["ok"],
      claimed: [],
      hints: [],
      reason: "paused",
      due: T + 700,
    });
    expect(await b.waiting()).toEqual(["b"]);
  });

  test("the global limit counts what this step settles, and says when it is reached", async () => {
    await b.add(["a", "b", "c", "d"]);
    await b.redis.hset(b.unit("meta"), "concurrency", "2");
    expect(await b.claim(5)).toEqual(["a", "b"]);
    expect((await b.step({ claim: 5 })).reason).toBe("limit");
    const reply = await b.step({ claim: 5, done: [{ id: "a" }] });
    expect(reply).toMatchObject({ claimed: [{ id: "c" }], reason: "" });
    await b.redis.hset(b.unit("meta"), "concurrency", "0");
    expect((await b.step({ claim: 5, done: [{ id: "b" }] })).reason).toBe("limit");
    for (const broken of ["2.7", "nan", "-1", "x"]) {
      await b.redis.hset(b.unit("meta"), "concurrency", broken);
      await b.step({ claim: 1 });
    }
    expect(await b.set("active")).toEqual(["c", "d"]);
  });

  test("an empty queue says empty and when the next job is due", async () => {
    expect(await b.step({ claim: 1 })).toMatchObject({ reason: "empty", due: 0 });
    await b.add([
      { id: "d", delay: 900 },
      { id: "e", delay: 900 },
    ]);
    expect(await b.step({ claim: 1 })).toMatchObject({ reason: "empty", due: T + 900 });
    expect((await b.step({ claim: 0 })).reason).toBe("");
  });

  describe("wake-ups", () => {
    test("a queue found empty clears what it promised, but not the due time", async () => {
      await b.add(["a", { id: "d", delay: 5 }]);
      expect(await b.set("marker")).toEqual(["a", "\u0001"]);
      await b.claim(1);
      expect(await b.set("marker")).toEqual(["a", "\u0001"]);
      await b.claim(1);
      expect(await b.set("marker")).toEqual(["\u0001"]);
    });

    test("what is left in line is promised when nothing else is", async () => {
      await b.add(["a", "b", "c"]);
      await b.redis.del(b.unit("marker"));
      await b.claim(1);
      expect(await b.set("marker")).toEqual(["b"]);
      await b.redis.del(b.unit("marker"));
      await b.claim(2);
      expect(await b.set("marker")).toEqual([]);
    });

    test("a prioritized job left in line is promised too", async () => {
      await b.add(["a", { id: "p", priority: 1 }]);
      await b.redis.del(b.unit("marker"));
      await b.claim(1);
      expect(await b.set("marker")).toEqual(["p"]);
    });

    test("at the limit nobody is woken; the end of a run wakes one, also without a claim", async () => {
      await b.add(["a", "b", "c"]);
      await b.redis.hset(b.unit("meta"), "concurrency", "1");
      await b.redis.del(b.unit("marker"));
      await b.claim(1);
      expect(await b.set("marker")).toEqual([]);
      await b.step({ claim: 0, done: [{ id: "a" }] });
      expect(await b.set("marker")).toEqual(["b"]);
    });

    test("blocked workers and waiting jobs never stand beside an empty marker", async () => {
      // Three workers, one job each: every wake-up comes from what the one before it left behind.
      await b.add(["a", "b", "c"]);
      const woken: string[] = [];
      for (const worker of ["w1", "w2", "w3"]) {
        const [, id] = (await b.redis.bzpopmin(b.unit("marker"), 1)) ?? [];
        expect(id).toBeDefined();
        woken.push(...(await b.claim(1, { token: worker })));
      }
      expect(woken).toEqual(["a", "b", "c"]);
    });
  });

  test("500 settled and 500 claimed fit one call", async () => {
    const ids = Array.from({ length: 1_000 }, (_, n) => `${n}`);
    await b.add(ids.slice(0, 500));
    await b.add(ids.slice(500));
    await b.claim(500);
    const reply = await b.step({
      claim: 500,
      hints: 500,
      candidates: ids.slice(500),
      done: ids.slice(0, 500).map((id) => ({ id })),
      keepCount: 400,
    });
    expect(new Set(reply.statuses)).toEqual(new Set(["ok"]));
    expect(reply.claimed.map(({ id }) => id)).toEqual(ids.slice(500));
    expect(reply.bury).toHaveLength(100);
  });

  test("a token that owners could not hold is refused", async () => {
    await b.add(["a"]);
    for (const token of ["", "a:b", "a!", "a b", "é"]) {
      await expect(b.step({ claim: 1, token })).rejects.toMatchObject({ code: "EMQARG" });
    }
    expect(await b.waiting()).toEqual(["a"]);
  });

  test("more results than runs are refused", async () => {
    const args = {
      now: T,
      claim: 0,
      deadline: T,
      token: "t",
      begun: 0,
      hints: 0,
      keepCount: 1,
      keepAge: 0,
      rateMax: 0,
      rateMs: 0,
    };
    const call = { q: b.q, args, candidates: [], done: ["a"], results: [] };
    await expect(b.run.run(stepScript, call)).rejects.toMatchObject({ detail: "results" });
  });

  test("events: one active per claim, one completed per end, in order", async () => {
    await b.add(["a", "b"]);
    await b.claim(1);
    await b.step({ claim: 1, done: [{ id: "a", value: "7" }] });
    expect((await b.events()).slice(2)).toEqual(["aa=", "ca=7", "ab="]);
  });
});
