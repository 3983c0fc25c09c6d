import { jobId, LIMITS } from "@echomq/wire";
import { type Backoff, checkBackoff } from "./backoff.js";
import { flag, record, whole } from "./check.js";
import { ATTEMPTS_MAX, DELAY_MAX_MS } from "./limits.js";
import { checkRetention, type Retention } from "./retention.js";

/** Options of one job. */
export interface JobOptions {
  /** The job's id; a second add with the same id is no second job. Default: an id is minted. */
  readonly jobId?: string;
  /** Wait before the job may run, in ms, up to ten years. */
  readonly delay?: number;
  /** 1 runs first, 2 097 151 last; jobs without a priority run before all that have one. */
  readonly priority?: number;
  /** How often the job is tried in all. Default 1. */
  readonly attempts?: number;
  /** Wait between attempts: ms, or how to compute them. Default none. */
  readonly backoff?: number | Backoff;
  /** Puts the job at the head of the line. */
  readonly lifo?: boolean;
  /** What stays of completed jobs of this kind. Default 24 hours and 10 000. */
  readonly removeOnComplete?: Retention;
  /** What stays of failed jobs of this kind. Default 7 days and 10 000. */
  readonly removeOnFail?: Retention;
}

/** Options of a job as `add` sends them. */
export interface CheckedJobOptions {
  readonly jobId: string | undefined;
  readonly delay: number;
  readonly priority: number;
  readonly lifo: boolean;
  /** What a later run needs, as JSON; empty when all is default. */
  readonly stored: string;
}

const KNOWN = [
  "jobId",
  "delay",
  "priority",
  "attempts",
  "backoff",
  "lifo",
  "removeOnComplete",
  "removeOnFail",
] as const;

const DEFAULTS: CheckedJobOptions = {
  jobId: undefined,
  delay: 0,
  priority: 0,
  lifo: false,
  stored: "",
};

/**
 * Checks the options of one job, over the queue's defaults.
 * @throws ValidationError `VALIDATION` naming the option.
 */
export function checkJobOptions(
  given: JobOptions | undefined,
  defaults: JobOptions = {},
  at = "opts",
): CheckedJobOptions {
  if (given === undefined && Object.keys(defaults).length === 0) return DEFAULTS;
  const opts = over(defaults, record(at, given === undefined ? {} : given, KNOWN));
  const attempts = whole(`${at}.attempts`, opts.attempts, 1, ATTEMPTS_MAX);
  const backoff = checkBackoff(`${at}.backoff`, opts.backoff);
  const removeOnComplete = checkRetention(`${at}.removeOnComplete`, opts.removeOnComplete);
  const removeOnFail = checkRetention(`${at}.removeOnFail`, opts.removeOnFail);
  const stored = JSON.stringify({
    attempts: attempts === 1 ? undefined : attempts,
    backoff,
    removeOnComplete,
    removeOnFail,
  });
  return {
    jobId: opts.jobId === undefined ? undefined : jobId(opts.jobId, `${at}.jobId`),
    delay: whole(`${at}.delay`, opts.delay, 0, DELAY_MAX_MS) ?? 0,
    priority: whole(`${at}.priority`, opts.priority, 0, LIMITS.priorityMax) ?? 0,
    lifo: flag(`${at}.lifo`, opts.lifo) ?? false,
    stored: stored === "{}" ? "" : stored,
  };
}

/**
 * Checks a queue's default job options.
 * @throws ValidationError `VALIDATION` naming the option.
 */
export function checkDefaultJobOptions(value: unknown): JobOptions {
  if (value === undefined) return {};
  const known = KNOWN.filter((name) => name !== "jobId");
  // A copy: what the caller changes later must not reach jobs unchecked.
  const opts: JobOptions = { ...record("defaultJobOptions", value, known) };
  checkJobOptions(opts, {}, "defaultJobOptions");
  return opts;
}

/** Given options over defaults; an option that is `undefined` is not given. */
function over(defaults: JobOptions, given: Readonly<Record<string, unknown>>): JobOptions {
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(set) };
}
