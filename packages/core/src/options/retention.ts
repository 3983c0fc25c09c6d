import { record, refuse, shown, whole } from "./check.js";
import { DELAY_MAX_MS } from "./limits.js";

/**
 * What stays of finished jobs: `true` removes at once, `false` keeps all, a number keeps that many, an
 * object keeps by `count`, by `age` in seconds, or both.
 */
export type Retention =
  | boolean
  | number
  | { readonly count?: number | undefined; readonly age?: number | undefined };

/** Retention as the scripts take it: how many, and how long in ms (0 for ever). */
export interface Keep {
  readonly count: number;
  readonly ageMs: number;
}

const ALL = Number.MAX_SAFE_INTEGER;
const DAY_MS = 86_400_000;

/** Finite by default, so a queue nobody looks after does not fill the server. */
export const KEEP_COMPLETED: Keep = { count: 10_000, ageMs: DAY_MS };
export const KEEP_FAILED: Keep = { count: 10_000, ageMs: 7 * DAY_MS };

/** @throws ValidationError `VALIDATION` naming the option. */
export function checkRetention(option: string, value: unknown): Retention | undefined {
  if (value === undefined || typeof value === "boolean") return value;
  if (typeof value === "number") return whole(option, value, 0, ALL);
  const { count, age } = record(option, value, ["count", "age"]);
  const most = whole(`${option}.count`, count, 0, ALL);
  const oldest = whole(`${option}.age`, age, 1, DELAY_MAX_MS / 1_000);
  if (most === undefined && oldest === undefined)
    refuse(option, `needs count or age, got ${shown(value)}`);
  return {
    ...(most === undefined ? {} : { count: most }),
    ...(oldest === undefined ? {} : { age: oldest }),
  };
}

/** Reads a retention, also one stored by another version: what cannot be read is the default. */
export function keepOf(value: unknown, fallback: Keep): Keep {
  if (value === true) return { count: 0, ageMs: 0 };
  if (value === false) return { count: ALL, ageMs: 0 };
  if (isCount(value)) return { count: value, ageMs: 0 };
  if (typeof value !== "object" || value === null) return fallback;
  const { count, age } = value as { count?: unknown; age?: unknown };
  if (!isCount(count) && !isCount(age)) return fallback;
  return {
    count: isCount(count) ? count : ALL,
    ageMs: isCount(age) ? Math.min(age * 1_000, DELAY_MAX_MS) : 0,
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
