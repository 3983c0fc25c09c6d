import { record, refuse, shown, whole } from "./check.js";
import { DELAY_MAX_MS } from "./limits.js";

/** How long to wait before an attempt is made again. */
export interface Backoff {
  /** `fixed` waits `delay` each time, `exponential` doubles it each time. */
  readonly type: "fixed" | "exponential";
  /** First wait, in ms. */
  readonly delay: number;
  /** Part of the wait that is random, 0 to 1; spreads jobs that failed together. Default 0. */
  readonly jitter?: number;
}

/** Longest wait between two attempts, in ms: a day. Doubling must end somewhere. */
export const BACKOFF_MAX_MS = 86_400_000;

/** @throws ValidationError `VALIDATION` naming the option. */
export function checkBackoff(option: string, value: unknown): Backoff | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number") {
    return { type: "fixed", delay: whole(option, value, 0, DELAY_MAX_MS) ?? 0 };
  }
  const { type, delay, jitter } = record(option, value, ["type", "delay", "jitter"]);
  if (type !== "fixed" && type !== "exponential") {
    refuse(`${option}.type`, `must be fixed or exponential, got ${shown(type)}`);
  }
  if (delay === undefined) refuse(`${option}.delay`, "is required");
  whole(`${option}.delay`, delay, 0, DELAY_MAX_MS);
  if (jitter !== undefined && !(typeof jitter === "number" && jitter >= 0 && jitter <= 1)) {
    refuse(`${option}.jitter`, `must be a number from 0 to 1, got ${shown(jitter)}`);
  }
  return value as Backoff;
}

/**
 * Wait in ms after the failed attempt number `attempt` (from 1): `delay`, or `delay * 2^(attempt-1)`,
 * at most a day unless `delay` itself is longer; `jitter` takes a random part of up to that share away.
 */
export function backoffDelay(
  backoff: Backoff,
  attempt: number,
  random: () => number = Math.random,
): number {
  const { type, delay, jitter = 0 } = backoff;
  const cap = Math.max(delay, BACKOFF_MAX_MS);
  // Doubled at most 60 times: beyond, the factor is infinite, and infinitely often nothing is no number.
  const times = Math.min(Math.max(attempt - 1, 0), 60);
  const full = type === "fixed" ? delay : Math.min(delay * 2 ** times, cap);
  return Math.round(full * (1 - jitter * random()));
}

/**
 * Reads a backoff from a job's stored options, also of another version. Null when there is none.
 * @throws Error when its type is unknown, so that the job fails with a reason instead of looping.
 */
export function storedBackoff(value: unknown): Backoff | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "number") return { type: "fixed", delay: delayOf(value) };
  if (typeof value !== "object") throw new Error(`unknown backoff ${shown(value)}`);
  const { type, delay, jitter } = value as { type?: unknown; delay?: unknown; jitter?: unknown };
  if (type !== "fixed" && type !== "exponential")
    throw new Error(`unknown backoff type ${shown(type)}`);
  const share = typeof jitter === "number" && jitter >= 0 && jitter <= 1 ? jitter : 0;
  return { type, delay: delayOf(delay), jitter: share };
}

function delayOf(value: unknown): number {
  return typeof value === "number" && value >= 0 ? Math.min(Math.floor(value), DELAY_MAX_MS) : 0;
}
