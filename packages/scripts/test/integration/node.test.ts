import { startServer, type TestServer } from "@echomq/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { nodeScript } from "../../src/index.js";
import { type Bench, closeBench, ENGINES, openBench, T } from "../support/bench.js";

// The reserve is one per server, so these tests have servers of their own.
describe.each(ENGINES)("node on %s", (engine) => {
  let server: TestServer;
  let b: Bench;
  beforeAll(async () => {
    server = await startServer({ engine });
    b = await openBench(engine, server.url);
  });
  beforeEach(() => b.redis.flushall());
  afterAll(async () => {
    await closeBench(b);
    await server?.stop();
  });

  const lease = (token: string, now = T, ttl = 1_000) =>
    b.run.run(nodeScript, { q: "", args: { now, ttl, token } });

  test("the lowest free node for a new token, the same node for the same token", async () => {
    expect(await lease("a")).toBe(0);
    expect(await lease("b")).toBe(1);
    expect(await lease("a", T + 500)).toBe(0);
    expect(await b.redis.hgetall("{emq}:nodes")).toEqual({
      "0": `${T + 1_500}:a`,
      "1": `${T + 1_000}:b`,
    });
    expect(await b.redis.get("{emq}:version")).toBe("echomq:2.0.0");
  });

  test("a lease ends at its time, and its own token may still renew it", async () => {
    await lease("a");
    expect(await lease("b", T + 999)).toBe(1);
    expect(await lease("c", T + 1_000)).toBe(0);
    expect(await lease("b", T + 5_000)).toBe(1);
    expect(await lease("a", T + 5_000)).toBe(0);
  });

  test("released is free for the next; releasing nothing changes nothing", async () => {
    await lease("a");
    await lease("b");
    expect(await lease("b", T, 0)).toBe(1);
    expect(await lease("stranger", T, 0)).toBe(0);
    expect(await b.redis.hkeys("{emq}:nodes")).toEqual(["0"]);
    expect(await lease("c")).toBe(1);
  });

  test("1 024 processes, and not one more until a lease ends", async () => {
    const all = await Promise.all(
      Array.from({ length: 1_024 }, (_, n) => lease(`t${n}`, T, 10 + n)),
    );
    expect(all).toEqual(Array.from({ length: 1_024 }, (_, n) => n));
    await expect(lease("late")).rejects.toMatchObject({ code: "EMQFULL" });
    expect(await lease("t7", T)).toBe(7);
    expect(await lease("late", T + 10)).toBe(0);
    expect(await b.redis.hlen("{emq}:nodes")).toBe(1_024);
  });

  test("tokens with colons and line breaks are told apart; none is refused", async () => {
    expect(await lease("a:b")).toBe(0);
    expect(await lease("b")).toBe(1);
    expect(await lease("x\ny")).toBe(2);
    expect(await lease("x\ny")).toBe(2);
    await expect(lease("")).rejects.toMatchObject({ code: "EMQARG", detail: "token" });
  });

  test("a reserve of another major is refused", async () => {
    await b.redis.set("{emq}:version", "echomq:3.0.0");
    await expect(lease("a")).rejects.toMatchObject({ code: "EMQFENCE", detail: "echomq:3.0.0" });
    expect(await b.redis.exists("{emq}:nodes")).toBe(0);
  });
});
