import { startServer, type TestServer } from "@echomq/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { pushScript } from "../../src/index.js";
import { type Bench, closeBench, ENGINES, openBench, T } from "../support/bench.js";
import { digest } from "../support/raw.js";

interface Row {
  readonly name?: string;
  readonly data?: string;
  readonly opts?: string;
}

describe.each(ENGINES)("push on %s", (engine) => {
  let server: TestServer;
  let base: Bench;
  let b: Bench;
  beforeAll(async () => {
    // Of its own, since all of it is compared.
    server = await startServer({ engine });
    base = await openBench(engine, server.url);
  });
  beforeEach(async () => {
    b = await base.fresh();
  });
  afterAll(async () => {
    await closeBench(base);
    await server?.stop();
  });

  const push = (ids: readonly string[], row: Row = {}, now: number = T): Promise<string> => {
    const items = ids.map(() => ({ name: "job", data: "{}", opts: "", ...row }));
    return b.run.run(pushScript, { q: b.q, args: { now }, jobs: ids, items });
  };
  const many = (count: number): string[] => Array.from({ length: count }, (_, n) => `${n}`);

  /** The class it is refused with; nothing may be written then. */
  async function refused(call: () => Promise<unknown>): Promise<unknown> {
    const before = await digest(b.redis);
    const error = await call().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(await digest(b.redis)).toBe(before);
    return (error as { readonly code?: unknown } | undefined)?.code;
  }

  test("jobs go behind those that wait, and are claimed in their order", async () => {
    await b.add(["a"]);
    expect(await push(["b", "c"])).toBe("ok");
    expect(await push(["d"])).toBe("ok");
    expect(await b.waiting()).toEqual(["a", "b", "c", "d"]);
    expect(await b.events()).toEqual(["wa=job", "wb=job", "wc=job", "wd=job"]);
    expect(await b.claim(9)).toEqual(["a", "b", "c", "d"]);
  });

  test("the hash holds what `add` would write", async () => {
    await push(["a"], { name: "n", data: "[1]" });
    await push(["b", "c"], { opts: '{"a":1}' });
    const timestamp = String(T);
    expect(await b.redis.hgetall(b.job("a"))).toEqual({ name: "n", data: "[1]", timestamp });
    const hash = { name: "job", data: "{}", timestamp, opts: '{"a":1}' };
    expect(await b.redis.hgetall(b.job("b"))).toEqual(hash);
    expect(await b.redis.hgetall(b.job("c"))).toEqual(hash);
  });

  test("no jobs are no write", async () => {
    expect(await refused(() => push([]))).toBeUndefined();
  });

  test("ids arm the marker up to 16; a paused queue wakes nobody", async () => {
    await push(many(10));
    await push(["one"]);
    await push(many(30).map((id) => `x${id}`));
    await push(["last"]);
    const marked = [...many(10), "one", ...many(5).map((id) => `x${id}`)];
    expect((await b.set("marker")).toSorted()).toEqual(marked.toSorted());
    await b.redis.del(b.unit("marker"));
    await b.redis.hset(b.unit("meta"), "paused", "1");
    await push(["p"]);
    expect(await b.set("marker")).toEqual([]);
    expect((await b.waiting()).at(-1)).toBe("p");
  });

  test("a limit, and a queue that is closing, are left to `add`", async () => {
    for (const field of ["limit", "closing"]) {
      await b.redis.hset(b.unit("meta"), field, "5");
      expect(await refused(() => push(["a"]))).toBe("EMQRETRY");
      await b.redis.hdel(b.unit("meta"), field);
    }
    await b.redis.hset(b.unit("meta"), "concurrency", "5");
    expect(await push(["a"])).toBe("ok");
  });

  test("a batch of which one stands already is left to `add`", async () => {
    await push(["a"]);
    await b.redis.set(b.job("odd"), "x");
    await b.redis.zadd(b.unit("trash"), T, "gone");
    const before = await digest(b.redis);
    for (const ids of [["a"], ["b", "a", "c"], ["odd"], ["b", "gone"]])
      expect(await push(ids)).toBe("known");
    expect(await digest(b.redis)).toBe(before);
    expect(await push(["b", "c"])).toBe("ok");
    expect(await b.waiting()).toEqual(["a", "b", "c"]);
  });

  test("twins, rows that are missing and a time beyond all dates are refused", async () => {
    expect(await refused(() => push(["a", "b", "a"]))).toBe("EMQARG");
    expect(await refused(() => push(["a"], {}, 8_640_000_000_000_001))).toBe("EMQARG");
    const call = { q: b.q, args: { now: T }, jobs: ["a", "b"] };
    const items = [{ name: "x", data: "1", opts: "" }];
    expect(await refused(() => b.run.run(pushScript, { ...call, items }))).toBe("EMQARG");
  });

  test("500 jobs fit one call, and their events split at 100", async () => {
    expect(await push(many(500))).toBe("ok");
    expect(await b.waiting()).toEqual(many(500));
    expect(await b.redis.xlen(b.unit("events"))).toBe(5);
    expect(await b.events()).toEqual(many(500).map((id) => `w${id}=job`));
  });

  test("a stream entry stays under 64 KB, and a long name is left to the hash", async () => {
    const name = "n".repeat(8_000);
    await push(many(20), { name });
    await push(["long"], { name: "n".repeat(8_193) });
    const entries = await b.redis.xrange(b.unit("events"), "-", "+");
    for (const [, pairs] of entries) expect(pairs.join("").length).toBeLessThanOrEqual(65_736);
    expect(entries.length).toBe(4);
    const told = many(20).map((id) => `w${id}=${name}`);
    expect(await b.events()).toEqual([...told, "Wlong="]);
  });

  test("events.max 0 writes none, a small one is exact", async () => {
    await b.redis.hset(b.unit("meta"), "events.max", "0");
    await push(["a"]);
    expect(await b.redis.exists(b.unit("events"))).toBe(0);
    await b.redis.hset(b.unit("meta"), "events.max", "3");
    for (let n = 0; n < 9; n++) await push([`b${n}`]);
    expect(await b.redis.xlen(b.unit("events"))).toBe(3);
  });
});
