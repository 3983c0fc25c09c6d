import { nameText, nearest, record, refuse, shown, whole } from "./check.js";
import { DELAY_MAX_MS } from "./limits.js";

/** How long to wait before an attempt is made again. */
export interface Backoff {
  /**
   * `fixed` waits `delay` each time, `exponential` doubles it each time. Any other name is a type of
   * one's own: the worker's `settings.backoffStrategy` says how long.
   */
  readonly type: "fixed" | "exponential" | (string & {});
  /** First wait, in ms. Required for `fixed` and `exponential`; others find it in the job's options. */
  readonly delay?: number | undefined;
  /** Part of the wait that is random, 0 to 1; spreads jobs that failed together. Default 0. */
  readonly jitter?: number | undefined;
}

/** A backoff this package computes itself. */
export interface BuiltInBackoff {
  readonly type: "fixed" | "exponential";
  readonly delay: number;
  readonly jitter?: number;
}

/** A backoff the worker's own strategy computes. */
export interface CustomBackoff {
  readonly type: string;
  readonly custom: true;
  readonly jitter: number;
}

/** Longest wait between two attempts, in ms: a day. Doubling must end somewhere. */
export const BACKOFF_MAX_MS = 86_400_000;

/** @throws ValidationError `VALIDATION` naming the option. */
export function checkBackoff(option: string, value: unknown): Backoff | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number") {
    return { type: "fixed", delay: whole(option, value, 0, DELAY_MAX_MS) ?? 0 };
  }
  const given = record(option, value, ["type", "delay", "jitter"]);
  const type = checkType(`${option}.type`, given.type);
  const delay = whole(`${option}.delay`, given.delay, 0, DELAY_MAX_MS);
  if (isBuiltIn(type) && delay === undefined) refuse(`${option}.delay`, "is required");
  const { jitter } = given;
  if (jitter !== undefined && !isShare(jitter)) {
    return refuse(`${option}.jitter`, `must be a number from 0 to 1, got ${shown(jitter)}`);
  }
  return {
    type,
    ...(delay === undefined ? {} : { delay }),
    ...(jitter === undefined ? {} : { jitter }),
  };
}

function checkType(option: string, value: unknown): string {
  if (value === undefined) return refuse(option, "is required");
  const type = nameText(option, value);
  // A misspelt one would be found out by the first failure only. Short words are too like others.
  const meant = type.toLowerCase() === "fixed" ? "fixed" : nearest(type, ["exponential"]);
  if (!isBuiltIn(type) && meant) refuse(option, `is not a type; did you mean ${meant}?`);
  return type;
}

function isBuiltIn(type: unknown): type is BuiltInBackoff["type"] {
  return type === "fixed" || type === "exponential";
}

function isShare(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= 1;
}

/**
 * Wait in ms after the failed attempt number `attempt` (from 1): `delay`, or `delay * 2^(attempt-1)`,
 * at most a day unless `delay` itself is longer; `jitter` takes a random part of up to that share away.
 */
export function backoffDelay(
  backoff: BuiltInBackoff,
  attempt: number,
  random: () => number = Math.random,
): number {
  const { type, delay, jitter = 0 } = backoff;
  const cap = Math.max(delay, BACKOFF_MAX_MS);
  // Doubled at most 60 times: beyond, the factor is infinite, and infinitely often nothing is no number.
  const times = Math.min(Math.max(attempt - 1, 0), 60);
  const full = type === "fixed" ? delay : Math.min(delay * 2 ** times, cap);
  return jittered(full, jitter, random);
}

/** A wait in whole ms, of which a random part of up to `jitter` is taken away. */
export function jittered(ms: number, jitter: number, random: () => number = Math.random): number {
  return Math.round(ms * (1 - jitter * random()));
}

/**
 * Reads a backoff from a job's stored options, also of another version. Null when there is none.
 * @throws Error when its type is no name, so that the job fails with a reason instead of looping.
 */
export function storedBackoff(value: unknown): BuiltInBackoff | CustomBackoff | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "number") return { type: "fixed", delay: delayOf(value) };
  if (typeof value !== "object") throw new Error(`unknown backoff ${shown(value)}`);
  const { type, delay, jitter } = value as { type?: unknown; delay?: unknown; jitter?: unknown };
  const share = isShare(jitter) ? jitter : 0;
  if (isBuiltIn(type)) return { type, delay: delayOf(delay), jitter: share };
  if (typeof type !== "string" || type === "")
    throw new Error(`unknown backoff type ${shown(type)}`);
  return { type, custom: true, jitter: share };
}

function delayOf(value: unknown): number {
  return typeof value === "number" && value >= 0 ? Math.min(Math.floor(value), DELAY_MAX_MS) : 0;
}
