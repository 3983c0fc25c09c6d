import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  ackScript,
  advanceScript,
  cancelScript,
  closeScript,
  logScript,
  owedScript,
  purgeScript,
  redelayScript,
  removeScript,
  rerankScript,
  retryScript,
  verdictsScript,
  wipeScript,
} from "../../src/index.js";
import { ALL, type Bench, closeBench, ENGINES, openBench, T } from "../support/bench.js";

describe.each(ENGINES)("scripts that administer on %s", (engine) => {
  let base: Bench;
  let b: Bench;
  beforeAll(async () => {
    base = await openBench(engine);
  });
  beforeEach(async () => {
    b = await base.fresh();
  });
  afterAll(() => closeBench(base));

  const rows = (ids: readonly string[]): { id: string }[] => ids.map((id) => ({ id }));

  const remove = (
    ids: readonly string[],
    args: { only?: string; before?: number } = {},
  ): Promise<readonly string[]> =>
    b.run.run(removeScript, {
      q: b.q,
      args: { now: T, only: "", before: ALL, ...args },
      items: rows(ids),
    });

  const words = (statuses: readonly string[]): string[] =>
    statuses.map((status) => status.split(" ", 1)[0] ?? "");

  test("remove: a status per id, trash for those that go, an event each", async () => {
    await b.add(["run", "w", { id: "p", priority: 2 }, { id: "d", delay: 5 }]);
    await b.claim(1);
    expect(words(await remove(["run", "w", "p", "d", "never", "w"]))).toEqual([
      "EMQSTATE",
      "ok",
      "ok",
      "ok",
      "EMQMISSING",
      "EMQMISSING",
    ]);
    expect(await b.set("trash")).toEqual(["d", "p", "w"]);
    expect((await b.events()).slice(-3)).toEqual(["xw=waiting", "xp=prioritized", "xd=delayed"]);
    expect(await b.redis.exists(b.unit("priorities"))).toBe(0);
    // A call sent again finds them in trash, and the caller buries them.
    expect(words(await remove(["w", "p"]))).toEqual(["ok", "ok"]);
  });

  test("remove: only in the state named, ended jobs only up to the time", async () => {
    await b.add(["a", "b", { id: "d", delay: 5 }, "w"]);
    await b.claim(2);
    await b.finish([{ id: "a" }], { now: T });
    await b.finish([{ id: "b" }], { now: T + 9 });
    const only = "completed";
    expect(words(await remove(["a", "b", "d", "w"], { only, before: T }))).toEqual([
      "ok",
      "EMQSTATE",
      "EMQSTATE",
      "EMQSTATE",
    ]);
    expect(words(await remove(["w", "d"], { only: "waiting" }))).toEqual(["ok", "EMQSTATE"]);
  });

  test("remove: `wait` is searched for at most 20 ids of a call", async () => {
    const ids = Array.from({ length: 25 }, (_, n) => `w${n}`);
    await b.add(ids);
    const statuses = words(await remove(ids));
    expect(statuses.filter((word) => word === "ok")).toHaveLength(20);
    expect(statuses.slice(20)).toEqual(Array(5).fill("EMQRETRY"));
    expect(await b.waiting()).toEqual(ids.slice(20));
  });

  test("retry: behind its peers, priority from the job itself, twins once", async () => {
    await b.add(["a", { id: "b", priority: 3 }]);
    await b.claim(2);
    await b.finish(["a", "b"].map((id) => ({ id, how: "failed", value: "why", atm: 2 })));
    await b.add(["w", { id: "p", priority: 3 }]);
    await b.redis.del(b.unit("marker"));
    const args = { state: "failed", before: ALL, reset: 0 };
    const jobs = ["b", "a", "a", "w", "never"];
    expect(words(await b.run.run(retryScript, { q: b.q, jobs, args }))).toEqual([
      "ok",
      "ok",
      "EMQSTATE",
      "EMQSTATE",
      "EMQMISSING",
    ]);
    expect(await b.waiting()).toEqual(["w", "a"]);
    expect(await b.set("prioritized")).toEqual(["p", "b"]);
    expect(await b.redis.hget(b.unit("priorities"), "b")).toBe("3");
    expect(await b.redis.hmget(b.job("a"), "finishedOn", "failedReason", "atm")).toEqual([
      null,
      null,
      "2",
    ]);
    expect(await b.set("marker")).toEqual(["a", "b"]);
  });

  test("retry: an id without a hash leaves the failed set, so a page never stands still", async () => {
    await b.redis.zadd(b.unit("failed"), T, "ghost");
    const args = { state: "failed", before: ALL, reset: 1 };
    const status = await b.run.run(retryScript, { q: b.q, jobs: ["ghost"], args });
    expect(words(status)).toEqual(["EMQMISSING"]);
    expect(await b.set("failed")).toEqual([]);
  });

  test("advance: by id, or the next ones due; a paused queue wakes nobody", async () => {
    await b.add([1, 2, 3, 4].map((n) => ({ id: `d${n}`, delay: n })));
    await b.redis.del(b.unit("marker"));
    const named = { q: b.q, jobs: ["d3", "d3", "never"], args: { limit: 0 } };
    const reply = await b.run.run(advanceScript, named);
    expect(words(reply.statuses)).toEqual(["ok", "EMQSTATE", "EMQMISSING"]);
    expect(await b.set("marker")).toEqual(["d3"]);
    await b.redis.del(b.unit("marker"));
    await b.redis.hset(b.unit("meta"), "paused", "1");
    const page = { q: b.q, jobs: [], args: { limit: 2 } };
    expect(await b.run.run(advanceScript, page)).toEqual({ statuses: [], moved: 2 });
    expect(await b.waiting()).toEqual(["d3", "d1", "d2"]);
    expect(await b.set("marker")).toEqual([]);
  });

  test("redelay: counted from now, equal times keep their order, an earlier one wakes", async () => {
    await b.add([
      { id: "a", delay: 50 },
      { id: "b", delay: 90 },
    ]);
    await b.redis.del(b.unit("marker"));
    const call = { q: b.q, jobs: ["b", "w"], args: { now: T, delay: 50 } };
    expect(words(await b.run.run(redelayScript, call))).toEqual(["ok", "EMQMISSING"]);
    expect(await b.set("delayed")).toEqual(["a", "b"]);
    await b.run.run(redelayScript, { ...call, jobs: ["b"], args: { now: T, delay: 2 } });
    expect(await b.redis.zrange(b.unit("marker"), 0, -1, "WITHSCORES")).toEqual([
      "\u0001",
      String(T + 2),
    ]);
    const end = { now: T, delay: 8_640_000_000_000_000 };
    await expect(b.run.run(redelayScript, { ...call, args: end })).rejects.toMatchObject({
      code: "EMQARG",
    });
  });

  test("rerank: a delayed job takes its new priority when it is due", async () => {
    await b.add([{ id: "d", delay: 1 }, "w"]);
    const call = { q: b.q, jobs: ["d"], args: { priority: 5, lifo: 0 } };
    expect(await b.run.run(rerankScript, call)).toEqual(["ok"]);
    await b.promote(T + 1);
    expect(await b.set("prioritized")).toEqual(["d"]);
    await b.run.run(rerankScript, { ...call, args: { priority: 0, lifo: 1 } });
    expect(await b.waiting()).toEqual(["d", "w"]);
    expect(await b.redis.exists(b.unit("priorities"))).toBe(0);
  });

  test("cancel: a verdict for all, the head of the line for those that do not run", async () => {
    await b.add(["run", "w", { id: "p", priority: 2 }, { id: "d", delay: 5 }]);
    await b.claim(1);
    await b.add(["first"]);
    const items = rows(["run", "d", "p", "never", "d"]);
    const call = { q: b.q, args: { reason: "stop" }, items };
    expect(words(await b.run.run(cancelScript, call))).toEqual([
      "ok",
      "ok",
      "ok",
      "EMQMISSING",
      "ok",
    ]);
    expect(await b.waiting()).toEqual(["d", "p", "w", "first"]);
    const seen = await b.run.run(verdictsScript, { q: b.q, args: {}, items: rows(["run", "w"]) });
    expect(seen).toEqual(["cancelled:stop", null]);
    expect(await b.redis.hget(b.unit("meta"), "verdicts")).toBe("1");
    await b.run.run(cancelScript, { ...call, args: { reason: "again" } });
    expect(await b.redis.hget(b.unit("verdicts"), "d")).toBe("cancelled:stop");
  });

  test("purge: pages of one state; active and outbox only while the queue is closing", async () => {
    await b.add(["a", "b", "c", { id: "p", priority: 1 }]);
    const purge = (state: string, limit: number): Promise<readonly string[]> =>
      b.run.run(purgeScript, { q: b.q, args: { now: T, state, limit } });
    expect(await purge("waiting", 0)).toEqual([]);
    expect(await purge("waiting", 2)).toEqual(["a", "b"]);
    expect(await purge("prioritized", 5)).toEqual(["p"]);
    expect(await b.set("trash")).toEqual(["a", "b", "p"]);
    await b.claim(1);
    await expect(purge("active", 1)).rejects.toMatchObject({ code: "EMQSTATE" });
    await expect(purge("trash", 1)).rejects.toMatchObject({ code: "EMQARG" });
    await b.redis.hset(b.unit("meta"), "closing", T);
    await b.redis.hset(b.unit("outbox"), "e", "{}");
    await b.redis.zadd(b.unit("outbox-due"), T, "e");
    expect(await purge("active", 1)).toEqual(["c"]);
    expect(await b.redis.exists(b.unit("owners"))).toBe(0);
    expect(await purge("outbox", 5)).toEqual(["e"]);
    expect(await b.redis.exists(b.unit("outbox"))).toBe(0);
    expect((await b.finish([{ id: "c" }])).statuses).toEqual(["EMQSTALE no lease"]);
  });

  test("close and wipe: nothing in, nothing out, and open again when all is empty", async () => {
    await b.add(["a", "b"]);
    await b.claim(1);
    const close = (force: number): Promise<string> =>
      b.run.run(closeScript, { q: b.q, args: { now: T, force } });
    const wipe = (): Promise<string> => b.run.run(wipeScript, { q: b.q, args: {} });
    expect(await wipe()).toBe("open");
    await expect(close(0)).rejects.toMatchObject({ code: "EMQSTATE" });
    expect(await close(1)).toBe("closed");
    expect(await close(1)).toBe("closing");
    await expect(b.add(["c"])).rejects.toMatchObject({ code: "EMQSTATE" });
    expect(await b.claim(1)).toEqual([]);
    expect(await wipe()).toBe("waiting");
    await b.redis.del(b.unit("wait"), b.unit("active"), b.unit("owners"));
    expect(await wipe()).toBe("");
    expect(await b.add(["c"])).toEqual(["added"]);
  });

  test("log: the last lines stay, and the job is named as owner of more keys", async () => {
    await b.add(["a"]);
    const call = (token: string, lines: readonly string[], keep = 3): Promise<object> =>
      b.run.run(logScript, {
        q: b.q,
        jobs: ["a"],
        args: { token, keep },
        lines: lines.map((line) => ({ line })),
      });
    expect(await call("", ["1", "2"])).toEqual({ status: "ok", count: 2 });
    expect(await call("", ["3", "4"])).toEqual({ status: "ok", count: 3 });
    expect(await call("t", ["5"])).toMatchObject({ status: expect.stringMatching(/^EMQSTALE/) });
    await b.claim(1);
    expect(await call("t", ["5"], 1)).toEqual({ status: "ok", count: 1 });
    expect(await b.redis.smembers(b.unit("extras"))).toEqual(["a"]);
    expect(await b.redis.hget(b.unit("meta"), "extras")).toBe("1");
  });

  test("a letter is owed by the step that fails the job, and by no other end", async () => {
    await b.add(["bad", "again", "ok", "lost"]);
    await b.claim(4);
    const letter = "{}";
    const ends = [
      { id: "bad", how: "failed" },
      { id: "again", how: "retry" },
      { id: "ok" },
      { id: "lost", how: "failed", token: "other" },
    ];
    await b.finish(ends.map((end) => ({ ...end, letter })));
    const look = { q: b.q, args: { now: T, limit: 10 } };
    expect(await b.run.run(owedScript, look)).toEqual([
      { effect: "letter:t:bad", payload: letter },
    ]);
    const ack = (due: number): Promise<number> =>
      b.run.run(ackScript, { q: b.q, args: {}, items: [{ effect: "letter:t:bad", due }] });
    expect(await ack(T + 9)).toBe(0);
    expect(await b.run.run(owedScript, look)).toEqual([]);
    expect(await ack(0)).toBe(1);
    // Put off by one worker after another has delivered it: it does not come back.
    expect(await ack(T + 9)).toBe(0);
    expect(await b.redis.exists(b.unit("outbox"), b.unit("outbox-due"))).toBe(0);
  });

  test("a job whose failure keeps nothing leaves its letter all the same", async () => {
    await b.add(["bad"]);
    await b.claim(1);
    await b.finish([{ id: "bad", how: "failed", letter: "{}" }], { failCount: 0 });
    expect(await b.redis.exists(b.job("bad"))).toBe(0);
    expect(await b.redis.hget(b.unit("outbox"), "letter:t:bad")).toBe("{}");
  });
});
