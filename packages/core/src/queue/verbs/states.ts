import type { JobState } from "../../job/types.js";
import { refuse, shown, whole } from "../../options/check.js";

/** A state jobs stand in, or `wait`, the older spelling of `waiting`. */
export type JobStateName = State | "wait";

type State = Exclude<JobState, "unknown">;

/** Every state, in the order counts are told. */
const STATES: readonly State[] = [
  "active",
  "waiting",
  "prioritized",
  "delayed",
  "waiting-children",
  "held",
  "completed",
  "failed",
];

/** Largest place in a structure that is asked for. */
const PLACE_MAX = 1_000_000_000;

/**
 * States named by the caller, each once; all where none is named.
 * @throws ValidationError `VALIDATION` naming `states`.
 */
export function checkStates(value: unknown): readonly JobStateName[] {
  const list = value === undefined ? [] : Array.isArray(value) ? value : [value];
  for (const one of list) {
    if (one === "wait" || STATES.includes(one as State)) continue;
    const hint = one === "paused" ? "; a paused queue keeps its jobs in waiting" : "";
    refuse("states", `must be of ${STATES.join(", ")}, got ${shown(one)}${hint}`);
  }
  return list.length === 0 ? STATES : [...new Set(list as JobStateName[])];
}

/** The state behind a name. */
export function stateOf(name: JobStateName): State {
  return name === "wait" ? "waiting" : name;
}

/** A range of places, both ends included; `end` -1 is the last. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Checks a range.
 * @throws ValidationError `VALIDATION` naming `start` or `end`.
 */
export function checkRange(start: unknown, end: unknown): Range {
  return {
    start: whole("start", start, 0, PLACE_MAX) ?? 0,
    end: whole("end", end, -1, PLACE_MAX) ?? -1,
  };
}

/** Cuts a range into pages of at most `size` places; the last is open when the range is. */
export function* pagesOf(
  { start, end }: Range,
  size: number,
): Generator<{ readonly start: number; readonly count: number }> {
  for (let at = start; at <= PLACE_MAX; at += size) {
    const count = end === -1 ? size : Math.min(size, end - at + 1);
    if (count <= 0) return;
    yield { start: at, count };
  }
}
