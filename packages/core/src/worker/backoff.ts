import { within } from "../connection/within.js";
import type { Job } from "../job/job.js";
import { backoffDelay, jittered, storedBackoff } from "../options/backoff.js";
import { record, refuse, shown } from "../options/check.js";
import { DELAY_MAX_MS } from "../options/limits.js";
import { isPromise } from "../options/schema.js";
import type { Run } from "./run.js";

/**
 * How long a job whose `backoff` has a type of one's own waits for its next attempt: ms from now, up to ten
 * years, 0 for none. `attemptsMade` counts the failed one, `type` is the job's, `error` what was thrown.
 * Whatever else it gives, or throws, fails the job; so does a promise that takes longer than 5 s. The
 * job's `jitter` is applied to what it gives.
 */
export type BackoffStrategy = {
  // A method, so that one that takes the jobs of its own queue fits.
  ask(attemptsMade: number, type: string, error: Error, job: Job): number | Promise<number>;
}["ask"];

/** What a worker computes by functions of the caller's. */
export interface AdvancedOptions {
  /** Asked when a job has failed whose `backoff` is neither `fixed` nor `exponential`. */
  readonly backoffStrategy?: BackoffStrategy | undefined;
}

/** How long a strategy may take, in ms; its job is running meanwhile. */
const PATIENCE_MS = 5_000;

/**
 * Checks the option `settings`.
 * @throws ValidationError `VALIDATION` naming the option.
 */
export function strategyOf(value: unknown): BackoffStrategy | undefined {
  if (value === undefined) return undefined;
  const { backoffStrategy } = record("settings", value, ["backoffStrategy"]);
  if (backoffStrategy === undefined || typeof backoffStrategy === "function") {
    return backoffStrategy as BackoffStrategy | undefined;
  }
  return refuse("settings.backoffStrategy", `must be a function, got ${shown(backoffStrategy)}`);
}

/**
 * Ms to wait after a failed attempt; a promise only where the strategy gives one.
 * @throws Error, or rejects with one, that says why there is no next attempt.
 */
export function backoffOf(
  run: Run,
  stored: unknown,
  error: Error,
  strategy: BackoffStrategy | undefined,
): number | Promise<number> {
  const backoff = storedBackoff(stored);
  if (backoff === null) return 0;
  if (!("custom" in backoff)) return backoffDelay(backoff, run.atm);
  const { type, jitter } = backoff;
  if (strategy === undefined) {
    throw new Error(`unknown backoff type ${shown(type)}: no settings.backoffStrategy here`);
  }
  const given: unknown = strategy(run.atm, type, error, run.job as Job);
  const checked = (ms: unknown): number => jittered(wholeWait(type, ms), jitter);
  return isPromise(given) ? patiently(given).then(checked) : checked(given);
}

function wholeWait(type: string, ms: unknown): number {
  if (typeof ms === "number" && ms >= 0 && ms <= DELAY_MAX_MS) return ms;
  const what = `the backoff strategy gave ${shown(ms)} for type ${shown(type)}`;
  throw new Error(`${what}, no number of ms from 0 to ${DELAY_MAX_MS}`);
}

async function patiently(given: Promise<unknown>): Promise<unknown> {
  if (await within(given, PATIENCE_MS)) return given;
  throw new Error(`the backoff strategy took longer than ${PATIENCE_MS} ms`);
}
