/** Scripts that give memory back, so their first write may not be one that `maxmemory` refuses (W12). */
export const FREE_FIRST: ReadonlySet<string> = new Set([
  "step",
  "finish",
  "begin",
  "renew",
  "recover",
  "promote",
  "bury",
  "remove",
  "purge",
  "retry",
  "advance",
  "redelay",
]);

/** Scripts that must meet the memory limit, so their first write allocates (W12). */
export const ALLOCATE_FIRST: ReadonlySet<string> = new Set(["add"]);

const JOB = "a job's hash has a closed set of fields";

/** Whole-structure commands a script may use all the same, and why they stay small (W6). */
export const WHOLE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  node: { HGETALL: "the node table has at most 1 024 fields" },
  get: { HGETALL: JOB },
  compare: { HGETALL: JOB },
  begin: { HGETALL: JOB },
  turn: { HGETALL: JOB },
  step: { HGETALL: JOB, ZREMRANGEBYSCORE: "the marker has at most 17 members" },
};
