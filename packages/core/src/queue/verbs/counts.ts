import { countsScript, ranksScript } from "@echomq/scripts";
import { LIMITS } from "@echomq/wire";
import type { LazySession } from "../../connection/lazy.js";
import type { JobCounts } from "../../job/types.js";
import { refuse, shown, whole } from "../../options/check.js";
import { checkStates, type JobStateName, stateOf } from "./states.js";

/** Most priorities of one call. */
const BATCH = 500;

/** Counts of a queue that does not exist. */
export const NONE: JobCounts = {
  active: 0,
  waiting: 0,
  prioritized: 0,
  delayed: 0,
  "waiting-children": 0,
  held: 0,
  completed: 0,
  failed: 0,
};

/** Jobs per state, counted in one step. */
export async function getJobCounts(
  lazy: LazySession,
  states: readonly unknown[],
  op: string,
): Promise<Record<JobStateName, number>> {
  const names = checkStates(states.flat());
  const session = await lazy.get(op);
  const counts = (await session.read(countsScript, { q: session.q, args: {} }, op)) ?? NONE;
  return Object.fromEntries(names.map((name) => [name, counts[stateOf(name)]])) as Record<
    JobStateName,
    number
  >;
}

/** Jobs of some states in all; a state named twice, in whichever spelling, counts once. */
export async function sumOfCounts(
  lazy: LazySession,
  states: readonly unknown[],
  op: string,
): Promise<number> {
  const names = new Set(checkStates(states.flat()).map(stateOf));
  const counts = await getJobCounts(lazy, [...names], op);
  return [...names].reduce((sum, name) => sum + counts[name], 0);
}

/** Jobs in line per priority; 0 counts those without one. */
export async function getCountsPerPriority(
  lazy: LazySession,
  priorities: unknown,
): Promise<Record<string, number>> {
  const op = "Queue.getCountsPerPriority";
  if (!Array.isArray(priorities)) {
    return refuse("priorities", `must be a list, got ${shown(priorities)}`);
  }
  // Not `map`, which leaves out the holes of a list.
  const list = Array.from(priorities as readonly unknown[], (one, at) => {
    const option = `priorities[${at}]`;
    return whole(option, one, 0, LIMITS.priorityMax) ?? refuse(option, "must not be undefined");
  });
  const wanted = [...new Set(list)];
  const session = await lazy.get(op);
  const out: Record<string, number> = {};
  for (let at = 0; at < wanted.length; at += BATCH) {
    const batch = wanted.slice(at, at + BATCH);
    const ranks = batch.map((priority) => ({ priority }));
    const counts = await session.read(ranksScript, { q: session.q, args: {}, ranks }, op);
    for (const [n, priority] of batch.entries()) out[priority] = counts?.[n] ?? 0;
  }
  return out;
}
