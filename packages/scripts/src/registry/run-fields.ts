/**
 * Fields of a job's hash that a run needs, in the order `step` and `begin` return them. `attemptsMade`
 * is the older spelling of `atm` in jobs carried over from v1 3.x and 4.x.
 */
export const RUN_FIELDS = [
  "name",
  "data",
  "opts",
  "timestamp",
  "atm",
  "ats",
  "stc",
  "priority",
  "delay",
  "attemptsMade",
  "progress",
  "deid",
  "parentKey",
  "rjk",
  "stacktrace",
] as const;

export type RunField = (typeof RUN_FIELDS)[number];
