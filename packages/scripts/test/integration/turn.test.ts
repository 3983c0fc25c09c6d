import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { initScript, turnScript } from "../../src/index.js";
import { encodeCall } from "../../src/registry/codec.js";
import { type Bench, closeBench, ENGINES, openBench, T } from "../support/bench.js";

interface TurnInput {
  readonly done?: readonly { id: string; token?: string; value?: string; runs?: string }[];
  readonly candidates?: readonly string[];
  readonly claim?: number;
  readonly hints?: number;
  readonly keep?: boolean;
  readonly token?: string;
}

describe.each(ENGINES)("turn on %s", (engine) => {
  let base: Bench;
  let b: Bench;

  beforeAll(async () => {
    base = await openBench(engine);
  });
  afterAll(() => closeBench(base));
  beforeEach(async () => {
    b = await base.fresh();
    await b.add(["1", "2", "3", "4", "5", "6"]);
    await b.step({ claim: 2, token: "t", candidates: ["1", "2"] });
  });

  function turn(input: TurnInput) {
    const { done = [], candidates = [], claim = 0, hints = 0, keep = false, token = "u" } = input;
    return b.run.run(turnScript, {
      q: b.q,
      args: { now: T + 5, claim, deadline: T + 1_005, token, begun: 500, hints },
      done: done.map(({ id }) => id),
      candidates,
      finished: keep ? [b.unit("completed")] : [],
      claims: done.map(({ token: held = "t" }) => ({ token: held, count: 1 })),
      results: done.map(({ value = "" }) => ({ value })),
      attempts: keep ? done.map(({ runs = "1.1" }) => ({ runs })) : [],
    });
  }

  test("settles, claims in order and names what comes next", async () => {
    const reply = await turn({
      done: [{ id: "1", value: "41" }, { id: "2" }],
      candidates: ["3"],
      claim: 2,
      hints: 9,
    });
    expect(reply.statuses).toBeNull();
    expect(reply.claimed.map(({ id }) => id)).toEqual(["3", "4"]);
    expect(reply.claimed[0]?.fields[0]).toEqual(expect.any(String));
    // Fields the hash does not have are cut from the end.
    expect(reply.claimed[0]?.fields.length).toBe(4);
    expect(reply.claimed[1]?.fields).toEqual([]);
    expect(reply.hints).toEqual(["5", "6"]);
    expect(await b.redis.exists(b.job("1"), b.job("2"))).toBe(0);
    expect(await b.redis.hgetall(b.unit("owners"))).toEqual({ 3: `${T + 5}:u!`, 4: `${T + 5}:u` });
    expect(await b.redis.zscore(b.unit("active"), "3")).toBe(String(-(T + 1_005)));
    expect(Number(await b.redis.zscore(b.unit("active"), "4"))).toBe(-(T + 1_005 + 1 / 512));
  });

  test("a job comes whole, whatever stands in its fields", async () => {
    const long = "x".repeat(16_385);
    const hashes: Record<string, Record<string, string>> = {
      "3": { name: "a\nb", data: "1", timestamp: "5", opts: "{}" },
      "4": { name: "", data: "a\n\nb", timestamp: "5" },
      "5": { name: "é", data: long, timestamp: "5", opts: '{\n"attempts": 2}' },
      "6": { name: "é", data: "1", timestamp: "5", opts: "{}", atm: "2", rjk: "k", stray: "x" },
      "7": { name: "only" },
      "8": { name: "é", data: "1", timestamp: "5", opts: "{}" },
      "9": { name: "é", data: "1", timestamp: "1\n2", opts: "{}" },
    };
    const ids = Object.keys(hashes);
    await b.redis.del(b.unit("wait"), ...ids.map((id) => b.job(id)));
    for (const id of ids) await b.redis.hset(b.job(id), hashes[id] as Record<string, string>);
    await b.redis.lpush(b.unit("wait"), ...ids);
    const places = ["name", "data", "opts", "timestamp"];
    const told = (list: readonly { id: string; fields: readonly (string | null)[] }[]) =>
      list.map(({ id, fields }) => [id, places.map((_, n) => fields[n] ?? undefined)]);
    const stored = ids.map((id) => [id, places.map((field) => hashes[id]?.[field])]);
    const { claimed } = await turn({ claim: 7, candidates: ids });
    expect(told(claimed)).toEqual(stored);
    expect(claimed[3]?.fields[4]).toBe("2");
    expect(claimed[3]?.fields[13]).toBe("k");
    const begun = await b.begin(ids, "u");
    expect(begun.map(({ status }) => status)).toEqual(ids.map(() => "ok"));
    expect(told(begun.map(({ fields }, n) => ({ id: ids[n] ?? "", fields })))).toEqual(stored);
  });

  test("none of the runs returned anything: no results are sent", async () => {
    const call = {
      q: b.q,
      args: { now: T + 5, claim: 0, deadline: T + 1_005, token: "u", begun: 0, hints: 0 },
      done: ["1", "2"],
      candidates: [],
      finished: [b.unit("completed")],
      claims: [{ token: "t", count: 2 }],
      attempts: [{ runs: "1.1" }, { runs: "1.1" }],
    };
    await expect(b.run.run(turnScript, { ...call, results: [{ value: "1" }] })).rejects.toThrow(
      "EMQARG results",
    );
    await b.run.run(turnScript, { ...call, results: [] });
    expect(await b.redis.zcard(b.unit("completed"))).toBe(2);
    expect(await b.redis.hexists(b.job("1"), "returnvalue")).toBe(0);
  });

  test("a claim keeps the places of its jobs in their scores, and reads what was guessed in any order", async () => {
    await b.redis.del(b.unit("wait"));
    await b.redis.lpush(b.unit("wait"), "5", "3", "4", "10");
    const candidates = ["4", "6", "5", "3"];
    const { claimed } = await turn({ claim: 4, candidates });
    expect(claimed.map(({ id, fields }) => [id, fields.length > 0])).toEqual([
      ["5", true],
      ["3", true],
      ["4", true],
      ["10", false],
    ]);
    const places = { 5: 0, 3: 1, 4: 2, 10: 3 };
    for (const [id, place] of Object.entries(places)) {
      const score = Number(await b.redis.zscore(b.unit("active"), id));
      expect(score, id).toBe(-(T + 1_005 + place / 512));
    }
  });

  test("a batch of leases is kept in the encoding that is not scanned, and nothing else is left there", async () => {
    expect(await b.redis.object("ENCODING", b.unit("active"))).toMatch(/pack/);
    const more = ["10", "11", "12", "13"];
    await b.add(more);
    await turn({ claim: 8 });
    expect(await b.redis.object("ENCODING", b.unit("active"))).toBe("skiplist");
    expect(await b.redis.object("ENCODING", b.unit("owners"))).toBe("hashtable");
    const ids = ["1", "2", "3", "4", "5", "6", ...more].sort();
    expect((await b.set("active")).sort()).toEqual(ids);
    expect((await b.redis.hkeys(b.unit("owners"))).sort()).toEqual(ids);
  });

  test("keeps completed jobs with their attempts", async () => {
    await turn({
      done: [
        { id: "1", value: "41" },
        { id: "2", runs: "2.3" },
      ],
      keep: true,
    });
    expect(await b.redis.hgetall(b.job("1"))).toMatchObject({
      returnvalue: "41",
      finishedOn: String(T + 5),
      atm: "1",
      ats: "1",
    });
    expect(await b.redis.hgetall(b.job("2"))).toMatchObject({ atm: "2", ats: "3" });
    expect(await b.redis.zrange(b.unit("completed"), "0", "-1")).toEqual(["1", "2"]);
  });

  test("a lost lease, a twin and a missing job each have their own status", async () => {
    await b.redis.del(b.job("2"));
    const reply = await turn({
      done: [{ id: "1" }, { id: "1" }, { id: "2" }, { id: "3" }],
      keep: true,
    });
    expect(reply.statuses).toEqual([
      "ok",
      "EMQSTALE no lease",
      "EMQMISSING the job is gone",
      "EMQSTALE no lease",
    ]);
    expect(await b.redis.zcard(b.unit("active"))).toBe(0);
    const stale = await turn({ done: [{ id: "1", token: "z" }] });
    expect(stale.statuses).toEqual(["EMQSTALE no lease"]);
  });

  test("what is named twice is settled once, by the run that holds it", async () => {
    const row = (id: string, token: string) => ({ id, token });
    const { statuses } = await turn({
      done: [row("1", "old"), row("1", "t"), row("2", "t"), row("2", "t")],
    });
    expect(statuses).toEqual([
      "EMQSTALE the lease is held by another run",
      "ok",
      "ok",
      "EMQSTALE no lease",
    ]);
    expect(await b.redis.exists(b.job("1"), b.job("2"))).toBe(0);
    expect(await b.redis.hlen(b.unit("owners"))).toBe(0);
    expect(await b.redis.zcard(b.unit("active"))).toBe(0);
  });

  test("numbers with leading zeros are none", async () => {
    const call = {
      q: b.q,
      args: { now: T, claim: 1, deadline: T, token: "u", begun: 1, hints: 0 },
      done: [],
      candidates: [],
      finished: [],
      claims: [],
      results: [],
      attempts: [],
    };
    const { keys, argv } = encodeCall(turnScript.spec, call);
    for (const [name, at] of [
      ["now", 1],
      ["deadline", 2],
    ] as const) {
      const odd = argv.map((value, n) => (n === at ? `0${value}` : value));
      const answer = b.redis.eval(turnScript.source, keys.length, ...keys, ...odd);
      await expect(answer).rejects.toThrow(`EMQARG ${name}`);
    }
    expect(await b.redis.llen(b.unit("wait"))).toBe(4);
  });

  test.each([
    ["paused", "1"],
    ["concurrency", "5"],
    ["rate.max", "5"],
    ["verdicts", "1"],
    ["extras", "1"],
  ])("leaves the work to step while v2:meta says %s", async (field, value) => {
    await b.redis.hset(b.unit("meta"), field, value);
    await expect(turn({ done: [{ id: "1" }], claim: 1 })).rejects.toMatchObject({
      code: "EMQRETRY",
    });
    expect(await b.redis.zcard(b.unit("active"))).toBe(2);
  });

  test("a pause is seen where v2:meta was lost and the queue opened anew", async () => {
    await b.redis.del(b.unit("meta"));
    expect(await b.run.run(initScript, { q: b.q, args: { now: T } })).toBe("opened");
    await b.redis.hset(b.unit("meta"), "paused", "1");
    await expect(turn({ claim: 1 })).rejects.toMatchObject({ code: "EMQRETRY" });
  });

  test("events of both halves are one entry, ends first", async () => {
    const before = await b.redis.xlen(b.unit("events"));
    await turn({ done: [{ id: "1", value: "41" }], claim: 1 });
    const entries = await b.redis.xrange(b.unit("events"), "-", "+");
    expect(entries.length).toBe(before + 1);
    expect(entries.at(-1)?.[1]).toEqual(["c1", "41", "a3", ""]);
  });
});
