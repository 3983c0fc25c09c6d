import { kindKey, type Unit, unitKey } from "@echomq/wire";
import { type CallOf, REGISTRY, type ScriptName } from "../../src/index.js";
import { adminCalls } from "./admin-calls.js";
import { type Bench, T } from "./bench.js";

/** Deadline of every lease of the population. */
export const END: number = T + 30_000;
/** More than the events of one stream entry, so that a batch flushes before it is over. */
export const MANY = 101;

/** Minute of the counts of the population. */
const MINUTE: number = Math.floor(T / 60_000);

const waiting = Array.from({ length: MANY }, (_, n) => `w${n}`);
const running = ["a1", "2", "a3", "a4", "a5", "gone"];

/** Fills a queue so that every script has something to do in every structure it declares. */
export async function populate(b: Bench, waits: number = MANY): Promise<void> {
  const { redis } = b;
  await b.add(running.map((id) => ({ id, priority: id === "a3" ? 4 : 0 })));
  await b.add(["c1", "c2", "f1"]);
  await b.step({ claim: 6, deadline: END, candidates: ["a1", "a3"] });
  await b.step({ claim: 4, deadline: END, candidates: ["a3"] });
  await b.finish([{ id: "c1" }, { id: "c2" }, { id: "f1", how: "failed" }]);
  await redis.del(b.job("gone"));
  await b.add(waiting.slice(0, waits));
  await b.add([
    { id: "d1", delay: 5, priority: 3 },
    { id: "d2", delay: 6 },
    { id: "d3", delay: 60_000 },
    { id: "p1", priority: 4 },
  ]);
  await redis.hset(b.unit("verdicts"), { 2: "cancelled", w0: "cancelled" });
  await redis.hset(b.job("7"), { name: "old", data: "1", timestamp: "1" });
  await redis.rpush(kindKey(b.q, "logs", "7"), "line");
  await redis.zadd(b.unit("trash"), T, "7", T, "x2");
  // Numbers, because a set of other texts has no order that survives RESTORE.
  await redis.sadd(b.unit("extras"), "7", "2");
  await redis.zadd(b.unit("waiting-children"), T, "k1");
  await redis.hset(b.unit("meta"), { concurrency: "50", "rate.max": "40", "rate.ms": "5000" });
  await redis.hdel(b.unit("meta"), "opened");
  await populateDedups(b);
  await redis.hset(b.unit("outbox"), { e1: "{}", e2: "{}" });
  await redis.zadd(b.unit("outbox-due"), T, "e1", T, "e2");
  await populateLooks(b);
}

/** Records held by a delayed job, by a running one that keeps another back, and by a dead one. */
async function populateDedups(b: Bench): Promise<void> {
  const { redis } = b;
  await redis.hset(b.job("d2"), "deid", "put-off");
  await redis.hset(b.record("put-off"), "job", "d2");
  await redis.hset(b.job("a1"), "deid", "busy");
  await redis.hset(b.record("busy"), "job", "a1");
  await b.add([{ id: "kept", priority: 2, dedup: { id: "busy", last: true } }]);
  // Of its own, because calls before may have given the others new holders.
  await redis.hset(b.job("p1"), "deid", "steady");
  await redis.hset(b.record("steady"), "job", "p1");
  await redis.hset(b.job("7"), "deid", "dead");
  await redis.hset(b.record("dead"), { job: "7", next: "back" });
  await redis.zadd(b.unit("held"), T, "back", T, "solo");
  await redis.hset(b.job("solo"), "name", "x");
}

/** A queue that is being taken down, down to the last step. */
export async function populateClosing(b: Bench, scheduled: boolean): Promise<void> {
  await populate(b, 1);
  const emptied = [
    "wait",
    "prioritized",
    "delayed",
    "active",
    "owners",
    "completed",
    "failed",
    "waiting-children",
    "held",
    "trash",
    "extras",
    "outbox",
    "outbox-due",
  ] as const satisfies readonly Unit[];
  await b.redis.del(...emptied.map((unit) => b.unit(unit)));
  await b.redis.hset(b.unit("meta"), { closing: T, paused: "1" });
  if (!scheduled) return;
  await b.redis.zadd(b.unit("schedulers"), T, "s1", T, "s2");
  for (const id of ["s1", "s2"]) await b.redis.hset(kindKey(b.q, "sched", id), "every", 5);
}

/** What the scripts that look and mend meet: counts, workers, records and jobs in no state. */
async function populateLooks(b: Bench): Promise<void> {
  const { redis } = b;
  for (const unit of ["metrics:completed", "metrics:failed"] as const) {
    await redis.hset(b.unit(unit), { low: MINUTE - 9, last: MINUTE, total: 5, keep: 10 });
    await redis.hset(b.unit(unit), { [MINUTE - 9]: 2, [MINUTE]: 3 });
  }
  await redis.zadd(b.unit("workers"), T - 90_000, "dead", T, "live");
  await redis.hset(b.unit("workers-info"), { dead: "{}", live: "{}" });
  await redis.hset(kindKey(b.q, "dedup", "k"), "job", "never");
  await redis.hset(b.job("o1"), "name", "lost");
  await redis.hset(b.job("o2"), { name: "lost", finishedOn: T });
  await redis.hset(b.unit("priorities"), "never", 3);
  await redis.set(b.unit("limiter"), "1");
}

/** One call of each script that a populated queue takes. */
export function validCalls(q: string): {
  readonly [N in ScriptName]: CallOf<(typeof REGISTRY)[N]>;
} {
  const row = { data: "[]", opts: "{}", timestamp: T, delay: 0, priority: 0 };
  const keep = { now: T + 1, keepCount: 1, keepAge: 500, failCount: 0, failAge: 7 };
  const end = { token: "t", atm: 1, ats: 1, delay: 3, value: "v", stack: "[]" };
  const score = String(-END);
  return {
    init: { q, args: { now: T } },
    add: {
      q,
      args: { now: T, whole: 0 },
      jobs: [...waiting, "7", "fresh", "fresh", "late", "ranked", "n1", "n2", "n3", "n4"],
      namesakes: ["7"],
      dedups: ["put-off", "busy", "none", "none"],
      holders: ["d2", "a1"],
      locks: [
        { item: MANY + 6, holder: 1, ttl: 9, flags: 3 },
        { item: MANY + 7, holder: 2, ttl: 0, flags: 4 },
        { item: MANY + 8, holder: 0, ttl: 9, flags: 0 },
        { item: MANY + 9, holder: 0, ttl: 9, flags: 1 },
      ],
      items: [
        ...waiting.map(() => ({ ...row, name: "other", flags: 0 })),
        { ...row, name: "own", flags: 2 },
        { ...row, name: "fresh", flags: 1 },
        { ...row, name: "fresh", flags: 0 },
        { ...row, name: "late", delay: 4, flags: 0 },
        { ...row, name: "ranked", priority: 4, flags: 1 },
        ...[5, 0, 0, 0].map((delay) => ({ ...row, name: "locked", delay, flags: 0 })),
      ],
    },
    push: {
      q,
      args: { now: T },
      jobs: Array.from({ length: MANY }, (_, n) => `u${n}`),
      items: Array.from({ length: MANY }, (_, n) => ({
        name: "x",
        data: "[]",
        opts: n % 2 === 0 ? "" : "{}",
      })),
    },
    step: {
      q,
      args: {
        now: T + 1,
        claim: 3,
        deadline: END,
        token: "u",
        hints: 3,
        begun: 2,
        keepCount: 2,
        keepAge: 500,
        rateMax: 0,
        rateMs: 0,
      },
      done: ["a1", "2", "gone"],
      candidates: ["w0", "w1"],
      results: ["v", "", "v"].map((value) => ({ token: "t", atm: 1, ats: 1, value })),
    },
    turn: {
      q,
      args: { now: T + 1, claim: 3, deadline: T + 30_001, token: "u", begun: 2, hints: 3 },
      done: ["a1", "2", "gone"],
      candidates: ["w0", "w1"],
      finished: [unitKey(q, "completed")],
      claims: [{ token: "t", count: 3 }],
      results: ["v", "", "v"].map((value) => ({ value })),
      attempts: ["1.1", "2.3", "2.3"].map((runs) => ({ runs })),
    },
    finish: {
      q,
      args: keep,
      jobs: ["a1", "2", "a3", "a4", "a5", "gone"],
      dedups: ["busy"],
      items: ["completed", "failed", "retry", "delay", "release", "retry"].map((how, n) => ({
        ...end,
        how,
        lock: n === 0 ? 1 : 0,
        letter: n === 1 ? "{}" : "",
      })),
    },
    begin: { q, args: { token: "t" }, jobs: ["a1", "gone", "2"] },
    renew: {
      q,
      args: { deadline: END + 5 },
      leases: ["a1", "never", "2"].map((id) => ({ id, token: "t" })),
    },
    expired: { q, args: { now: END, limit: 10 } },
    recover: {
      q,
      args: { now: END, budget: 0 },
      jobs: ["gone", "2", "a3", "a1"],
      leases: ["", "", "!", "!"].map((mark) => ({ score, owner: `${T}:t${mark}` })),
    },
    promote: { q, args: { now: T + 10, limit: 10 } },
    bury: { q, args: {}, jobs: ["7", "x2"], dedups: ["dead"], locks: [{ job: 1 }] },
    holder: { q, args: {}, dedups: ["steady"], holders: ["p1"] },
    unlock: { q, args: { now: T, job: "" }, dedups: ["busy"] },
    capacity: { q, args: { most: 5 } },
    limit: { q, args: { kind: "rate", most: 6, ms: 700 } },
    limits: { q, args: {} },
    pause: { q, args: { paused: 1 } },
    counts: { q, args: {} },
    get: { q, args: {}, jobs: ["a1", "w0", "7"] },
    page: { q, args: { state: "waiting", start: 0, count: 10, asc: 1 } },
    ranks: { q, args: {}, ranks: [0, 4, 2_097_151].map((priority) => ({ priority })) },
    loglines: { q, args: { start: 0, count: 10, asc: 0 }, jobs: ["a1"] },
    count: {
      q,
      args: { keep: 5 },
      rows: [
        { minute: MINUTE, completed: 2, failed: 1 },
        { minute: MINUTE + 1, completed: 2, failed: 1 },
      ],
    },
    metrics: { q, args: { kind: "completed", newest: MINUTE, count: 10 } },
    heartbeat: { q, args: { now: T, ttl: 60_000, id: "me", info: "{}" } },
    workers: { q, args: { since: T - 60_000, start: 0, count: 10 } },
    tail: { q, args: { after: "0-0", inclusive: 0, count: 2 } },
    publish: { q, args: {}, messages: [{ name: "shipped", payload: "{}" }] },
    inspect: {
      q,
      args: { walk: 0 },
      jobs: ["a1", "w0", "gone", "7", "o1", "never"],
      seen: [0, 1, 0, 0, 0, 0].map((waits) => ({ waits })),
    },
    rescue: {
      q,
      args: { now: T, fix: 1 },
      jobs: ["kept", "solo", "never"],
      records: ["busy", "e", "d"],
    },
    mend: { q, args: { now: T, least: 0 }, jobs: ["a1", "w0", "gone", "7", "o1", "o2", "never"] },
    dedups: { q, args: { fix: 1 }, records: ["k"], jobs: ["never"] },
    node: { q, args: { now: T, ttl: 1_000, token: "n" } },
    ...adminCalls(q),
  };
}

/** Names of every script. */
export const NAMES = Object.keys(REGISTRY) as readonly ScriptName[];
