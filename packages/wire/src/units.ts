/** Type of a key, spelled as the server's `TYPE` answers. */
export type RedisType = "string" | "hash" | "list" | "set" | "zset" | "stream";

/** One row of the manifest: what a unit is and what stands in it. */
export interface UnitSpec {
  readonly type: RedisType;
  readonly holds: string;
}

/** Every queue-level structure under `emq:{q}:v2:`. The registry is closed. */
export const UNITS = {
  meta: {
    type: "hash",
    holds:
      "options; `version` (a copy of the stamp, never an authority), `opened`, `closing`, `paused`, `limit`",
  },
  wait: { type: "list", holds: "ids with no priority, oldest at the right end" },
  prioritized: {
    type: "zset",
    holds: "ids with priority 1..2^21-1; score = priority * 2^32 + sequence",
  },
  priorities: { type: "hash", holds: "id -> priority, only for ids that have one" },
  pc: { type: "string", holds: "priority sequence" },
  delayed: {
    type: "zset",
    holds: "score = due time in server ms, plus n/4096 that keeps the order of equal times",
  },
  active: {
    type: "zset",
    holds:
      "score = minus the lease deadline in server ms, newest first; a part of a ms (n/512) is the place in its claim, readers floor the deadline",
  },
  owners: { type: "hash", holds: "id -> `<claimedAt>:<lease token>`" },
  verdicts: { type: "hash", holds: "id -> why it must end" },
  completed: { type: "zset", holds: "score = finish time in server ms" },
  failed: { type: "zset", holds: "score = finish time in server ms" },
  "waiting-children": { type: "zset", holds: "parents that wait for their children" },
  parents: { type: "set", holds: "ids that have open children" },
  held: { type: "zset", holds: "successors kept back by deduplication until the running job ends" },
  trash: { type: "zset", holds: "ids that left every state and whose keys still stand" },
  extras: { type: "set", holds: "ids that own keys besides their hash" },
  outbox: { type: "hash", holds: "effects owed to other queues, with their payload" },
  "outbox-due": { type: "zset", holds: "effect id -> when it is delivered next" },
  inbox: { type: "zset", holds: "effects already applied here, by time" },
  staged: { type: "zset", holds: "flows not yet committed, by time" },
  schedulers: { type: "zset", holds: "scheduler id -> next run in server ms" },
  events: { type: "stream", holds: "one entry per batch of transitions" },
  marker: { type: "zset", holds: "wake-up for blocked workers: waiting ids, or the next due time" },
  limiter: { type: "string", holds: "fixed window counter, always with an expiry" },
  workers: { type: "zset", holds: "live workers by last heartbeat" },
  "workers-info": { type: "hash", holds: "worker -> what it says about itself" },
  "metrics:completed": { type: "hash", holds: "minute -> count, trimmed by age" },
  "metrics:failed": { type: "hash", holds: "minute -> count, trimmed by age" },
} as const;

/** Name of a queue-level structure. */
export type Unit = keyof typeof UNITS;

/** Kinds of keys that belong to one id, `emq:{q}:v2:<kind>:<id>`, and their types. */
export const KINDS = {
  job: "hash",
  logs: "list",
  deps: "set",
  results: "hash",
  failures: "hash",
  sched: "hash",
  dedup: "hash",
} as const;

/** Kind of a key that belongs to one id. */
export type Kind = keyof typeof KINDS;

/** What stands in a key of each kind. */
export const KIND_HOLDS: { readonly [K in Kind]: string } = {
  job: "the job's fields",
  logs: "log lines, oldest first",
  deps: "keys of children that have not ended",
  results: "child key -> its result",
  failures: "child key -> why it failed",
  sched: "one scheduler's record",
  dedup:
    "`job`, `next`, `due`, `front`; with a TTL valid until then, without one while `job` has not ended",
};

/** Server-wide keys, `{emq}:<name>`; `migration` goes on with `:<q>`. */
export const RESERVE = ["version", "nodes", "queues", "bundle", "migration"] as const;

/** Name of a server-wide key. */
export type Reserve = (typeof RESERVE)[number];

/** Tells whether a text names a queue-level structure. */
export function isUnit(text: string): text is Unit {
  return Object.hasOwn(UNITS, text);
}

/** Tells whether a text names a kind. */
export function isKind(text: string): text is Kind {
  return Object.hasOwn(KINDS, text);
}
