import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { cancelScript, limitScript } from "../../src/index.js";
import { type Bench, closeBench, ENGINES, openBench, T } from "../support/bench.js";

const END = T + 30_000;

describe.each(ENGINES)("jobs that must end, on %s", (engine) => {
  let base: Bench;
  let b: Bench;
  beforeAll(async () => {
    base = await openBench(engine);
  });
  beforeEach(async () => {
    b = await base.fresh();
  });
  afterAll(() => closeBench(base));

  const cancel = (...ids: string[]) =>
    b.run.run(cancelScript, { q: b.q, args: { reason: "no" }, items: ids.map((id) => ({ id })) });
  const limit = (kind: string, most: number, ms = 0) =>
    b.run.run(limitScript, { q: b.q, args: { kind, most, ms } });
  const claimed = async (claim: number, input: object = {}) =>
    (await b.step({ claim, ...input })).claimed.map(({ id, verdict }) => `${id} ${verdict}`);

  describe("a verdict that comes before the end of the run that moves its job", () => {
    test.each(["delay", "retry", "release"])("%s: ahead of all lines, to end", async (how) => {
      await b.add([
        { id: "p", priority: 7 },
        { id: "q", priority: 7 },
      ]);
      await b.claim(1);
      await b.add(["w"]);
      await cancel("p");
      await b.redis.del(b.unit("marker"));
      const value = how === "release" ? "" : "why";
      await b.finish([{ id: "p", how, delay: 60_000, value }]);
      expect(await b.waiting()).toEqual(["p", "w"]);
      expect(await b.set("prioritized")).toEqual(["q"]);
      expect(await b.set("delayed")).toEqual([]);
      expect(await b.set("marker")).toEqual(["p"]);
      expect(await b.redis.hget(b.job("p"), "delay")).toBe(null);
      expect(await claimed(2)).toEqual(["p cancelled:no", "w null"]);
      await b.finish([{ id: "p", how: "failed" }]);
      expect(await b.redis.exists(b.unit("verdicts"))).toBe(0);
      expect(await b.redis.hkeys(b.unit("priorities"))).toEqual(["q"]);
    });

    test("the others of the batch go where they were sent", async () => {
      await b.add(["a", "b", "c"]);
      await b.claim(3);
      await cancel("b");
      const rows = ["a", "b", "c"].map((id) => ({ id, how: "delay", delay: 5 }));
      await b.finish(rows);
      expect(await b.set("delayed")).toEqual(["a", "c"]);
      expect(await b.waiting()).toEqual(["b"]);
      expect((await b.events()).slice(-3)).toEqual([`da=${T + 5}`, "wb=", `dc=${T + 5}`]);
    });
  });

  describe("whose worker died", () => {
    test("goes ahead of all lines, and the first verdict stays", async () => {
      await b.add([
        { id: "p", priority: 7 },
        { id: "q", priority: 7 },
      ]);
      await b.claim(2, { candidates: ["p", "q"] });
      await b.add(["w"]);
      await cancel("p");
      expect(await b.recover(["p", "q"], END, 0)).toEqual(["stalled", "stalled"]);
      expect(await b.waiting()).toEqual(["p", "q", "w"]);
      expect(await claimed(3)).toEqual(["p cancelled:no", "q stalled", "w null"]);
    });
  });

  describe("no limit keeps it in line", () => {
    test("a rate that is used up, or a hold: it is taken, nothing else is, and nothing is counted", async () => {
      await b.add(["a", "b", "c", { id: "p", priority: 1 }, { id: "d", delay: 90 }]);
      await limit("rate", 1, 60_000);
      expect(await b.claim(1)).toEqual(["a"]);
      await cancel("p", "c", "d");
      expect(await claimed(5)).toEqual(["p cancelled:no", "c cancelled:no", "d cancelled:no"]);
      expect(await b.redis.get(b.unit("limiter"))).toBe("1");
      expect(await b.waiting()).toEqual(["b"]);
      const held = await b.step({ claim: 5 });
      expect(held).toMatchObject({ claimed: [], reason: "rate" });
      expect(held.due).toBeGreaterThan(T);
      await b.redis.del(b.unit("limiter"));
      await limit("hold", 0, 60_000);
      await cancel("b");
      expect(await claimed(5)).toEqual(["b cancelled:no"]);
    });

    test("a worker's own rate, and the limit of jobs at once", async () => {
      await b.add(["a", "b", "c"]);
      await limit("concurrency", 1);
      await b.claim(1);
      await cancel("c");
      expect(await claimed(5)).toEqual(["c cancelled:no"]);
      expect(await b.step({ claim: 5 })).toMatchObject({ claimed: [], reason: "limit" });
      await limit("concurrency", 0);
      expect(await b.claim(1, { rateMax: 1, rateMs: 60_000 })).toEqual(["b"]);
      await b.add(["d", "e"]);
      await cancel("e");
      expect(await claimed(5, { rateMax: 1, rateMs: 60_000 })).toEqual(["e cancelled:no"]);
    });

    test("it uses no place: the others are taken beside it, in their order", async () => {
      await b.add(["a", "b", "c", "d"]);
      await limit("rate", 2, 60_000);
      await cancel("d");
      expect(await claimed(4)).toEqual(["d cancelled:no", "a null", "b null"]);
      expect(await b.redis.get(b.unit("limiter"))).toBe("2");
      expect(await b.waiting()).toEqual(["c"]);
    });

    test("whoever was put ahead of it keeps its place", async () => {
      await b.add(["a", "b", "c"]);
      await limit("hold", 0, 60_000);
      await cancel("c");
      await b.add([
        { id: "x", lifo: true },
        { id: "y", lifo: true },
      ]);
      await cancel("b");
      await b.add([{ id: "z", lifo: true }]);
      expect(await b.waiting()).toEqual(["z", "b", "y", "x", "c", "a"]);
      expect(await claimed(1)).toEqual(["b cancelled:no"]);
      expect(await b.waiting()).toEqual(["z", "y", "x", "c", "a"]);
      expect(await claimed(3)).toEqual(["c cancelled:no"]);
      expect(await b.waiting()).toEqual(["z", "y", "x", "a"]);
    });

    test("a claim takes no more than it asked for, and fills up from both lines", async () => {
      const ids = Array.from({ length: 130 }, (_, n) => `w${n}`);
      await b.add([...ids, { id: "p", priority: 1 }]);
      const first = ids.slice(0, 110);
      await b.redis.hset(b.unit("verdicts"), ...first.flatMap((id) => [id, "cancelled:no"]));
      const doomed = first.map((id) => `${id} cancelled:no`);
      expect(await claimed(108)).toEqual(doomed.slice(0, 108));
      const rest = ids.slice(110).map((id) => `${id} null`);
      expect(await claimed(30)).toEqual([...doomed.slice(108), ...rest, "p null"]);
      expect(await b.step({ claim: 3 })).toMatchObject({ claimed: [], reason: "empty" });
    });

    test("a pause does: nothing is taken at all", async () => {
      await b.add(["a"]);
      await b.redis.hset(b.unit("meta"), "paused", "1");
      await cancel("a");
      expect(await b.step({ claim: 1 })).toMatchObject({ claimed: [], reason: "paused" });
      expect(await b.waiting()).toEqual(["a"]);
    });
  });

  describe("kept back by deduplication", () => {
    const last = { id: "d", last: true };
    const add = async (id: string) => (await b.add([{ id, dedup: last }]))[0];

    test("it leaves for the head of the line, and its record goes on without it", async () => {
      await add("a");
      await b.claim(1);
      expect(await add("b")).toBe("held a");
      await b.add(["w"]);
      await cancel("b");
      expect(await b.set("held")).toEqual([]);
      expect(await claimed(2)).toEqual(["b cancelled:no", "w null"]);
      await b.finish([{ id: "b", how: "failed", dedup: "d" }]);
      expect(await b.redis.hget(b.record("d"), "job")).toBe("a");
      await b.finish([{ id: "a", dedup: "d" }]);
      expect(await b.redis.exists(b.record("d"))).toBe(0);
      expect(await b.waiting()).toEqual([]);
    });

    test("the next that is kept back leaves it alone", async () => {
      await add("a");
      await b.claim(1);
      await add("b");
      await cancel("b");
      expect(await add("c")).toBe("held a");
      expect(await b.set("trash")).toEqual([]);
      expect(await b.waiting()).toEqual(["b"]);
      await b.finish([{ id: "a", dedup: "d" }]);
      expect(await b.waiting()).toEqual(["b", "c"]);
      expect(await b.redis.hget(b.record("d"), "job")).toBe("c");
    });
  });
});
