import { jobId, LIMITS } from "@echomq/wire";
import { type Backoff, checkBackoff } from "./backoff.js";
import { flag, momentOf, record, refuse, shown, whole } from "./check.js";
import { checkDeadLetter, type DeadLetter } from "./dead-letter.js";
import {
  type CheckedDeduplication,
  checkDeduplication,
  type Deduplication,
} from "./deduplication.js";
import { ATTEMPTS_MAX, DELAY_MAX_MS, KEEP_LOGS_MAX, TIMER_MAX_MS } from "./limits.js";
import { checkRetention, type Retention } from "./retention.js";

/** Options of one job. */
export interface JobOptions {
  /** The job's id; a second add with the same id is no second job. Default: an id is minted. */
  readonly jobId?: string | undefined;
  /** Wait before the job may run, in ms, up to ten years. */
  readonly delay?: number | undefined;
  /** When the job may run: a `Date`, or ms of Unix time. What is past is now. Not together with `delay`. */
  readonly runAt?: Date | number | undefined;
  /** 1 runs first, 2 097 151 last; jobs without a priority run before all that have one. */
  readonly priority?: number | undefined;
  /** How often the job is tried in all. Default 1. */
  readonly attempts?: number | undefined;
  /** Wait between attempts: ms, or how to compute them. Default none. */
  readonly backoff?: number | Backoff | undefined;
  /** How long one run may take, in ms, up to 24 days; longer, and the attempt fails. Default no limit. */
  readonly timeout?: number | undefined;
  /**
   * How long the job may wait for its first run, in ms from when it is due, up to 24 days; later it
   * fails unrun. */
  readonly ttl?: number | undefined;
  /** Lets one job stand for all that are added under the same id. */
  readonly deduplication?: Deduplication | undefined;
  /** Queue that gets a copy of the job when it fails for good. */
  readonly deadLetter?: DeadLetter | undefined;
  /** Log lines that stay, 1 to 100 000. Default 1 000. */
  readonly keepLogs?: number | undefined;
  /** Puts the job at the head of the line. */
  readonly lifo?: boolean | undefined;
  /** What stays of completed jobs of this kind. Default 24 hours and 10 000. */
  readonly removeOnComplete?: Retention | undefined;
  /** What stays of failed jobs of this kind. Default 7 days and 10 000. */
  readonly removeOnFail?: Retention | undefined;
}

/** Options of a job as `add` sends them. */
export interface CheckedJobOptions {
  readonly jobId: string | undefined;
  readonly delay: number;
  /** Unix ms; its delay is known once the server's time is. */
  readonly runAt: number | undefined;
  readonly priority: number;
  readonly lifo: boolean;
  readonly deduplication: CheckedDeduplication | undefined;
  /** What a later run needs, as JSON; empty when all is default. */
  readonly stored: string;
}

const KNOWN = [
  "jobId",
  "delay",
  "runAt",
  "priority",
  "attempts",
  "backoff",
  "timeout",
  "ttl",
  "deduplication",
  "deadLetter",
  "keepLogs",
  "lifo",
  "removeOnComplete",
  "removeOnFail",
] as const;

const DEFAULTS: CheckedJobOptions = {
  jobId: undefined,
  delay: 0,
  runAt: undefined,
  priority: 0,
  lifo: false,
  deduplication: undefined,
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
  const read = record(at, given === undefined ? {} : given, KNOWN);
  const known = lastChecked;
  if (known?.defaults === defaults && same(read, known.read)) return known.checked;
  const opts = over(defaults, read);
  const attempts = whole(`${at}.attempts`, opts.attempts, 1, ATTEMPTS_MAX);
  const backoff = checkBackoff(`${at}.backoff`, opts.backoff);
  const removeOnComplete = checkRetention(`${at}.removeOnComplete`, opts.removeOnComplete);
  const removeOnFail = checkRetention(`${at}.removeOnFail`, opts.removeOnFail);
  const stored = JSON.stringify({
    attempts: attempts === 1 ? undefined : attempts,
    backoff,
    timeout: whole(`${at}.timeout`, opts.timeout, 1, TIMER_MAX_MS),
    ttl: whole(`${at}.ttl`, opts.ttl, 1, TIMER_MAX_MS),
    deadLetter: checkDeadLetter(`${at}.deadLetter`, opts.deadLetter),
    keepLogs: whole(`${at}.keepLogs`, opts.keepLogs, 1, KEEP_LOGS_MAX),
    removeOnComplete,
    removeOnFail,
  });
  const checked: CheckedJobOptions = {
    jobId: opts.jobId === undefined ? undefined : jobId(opts.jobId, `${at}.jobId`),
    delay: whole(`${at}.delay`, opts.delay, 0, DELAY_MAX_MS) ?? 0,
    runAt: checkRunAt(`${at}.runAt`, opts),
    priority: whole(`${at}.priority`, opts.priority, 0, LIMITS.priorityMax) ?? 0,
    lifo: flag(`${at}.lifo`, opts.lifo) ?? false,
    deduplication: checkDeduplication(`${at}.deduplication`, opts.deduplication),
    stored: stored === "{}" ? "" : stored,
  };
  // What `runAt` may be depends on the time.
  if (opts.runAt === undefined && isFlat(read) && isFlat(defaults)) {
    lastChecked = { read, defaults, checked };
  }
  return checked;
}

/** The last options that were checked: most jobs of a queue are added with the same. */
let lastChecked:
  | {
      readonly read: Readonly<Record<string, unknown>>;
      readonly defaults: JobOptions;
      readonly checked: CheckedJobOptions;
    }
  | undefined;

/** True where no value can change. */
function isFlat(opts: object): boolean {
  return Object.values(opts).every((value) => typeof value !== "object");
}

/** True for the same values under the same keys, each read once by {@link record}. */
function same(
  one: Readonly<Record<string, unknown>>,
  other: Readonly<Record<string, unknown>>,
): boolean {
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key]);
}

/**
 * Checks a queue's default job options.
 * @throws ValidationError `VALIDATION` naming the option.
 */
export function checkDefaultJobOptions(value: unknown): JobOptions {
  if (value === undefined) return {};
  const known = KNOWN.filter((name) => name !== "jobId");
  const opts: JobOptions = record("defaultJobOptions", value, known);
  checkJobOptions(opts, {}, "defaultJobOptions");
  return opts;
}

/** Given options over defaults. */
function over(defaults: JobOptions, given: Readonly<Record<string, unknown>>): JobOptions {
  const { delay, runAt, ...rest } = defaults;
  // Of the two that exclude each other, the one given stands.
  if ("delay" in given || "runAt" in given) return { ...rest, ...given };
  return { ...defaults, ...given };
}

function checkRunAt(option: string, { runAt, delay }: JobOptions): number | undefined {
  if (runAt === undefined) return undefined;
  if (delay !== undefined) refuse(option, "does not go together with delay");
  const time = momentOf(runAt);
  if (time === undefined) {
    return refuse(option, `must be a valid Date or whole ms of Unix time, got ${shown(runAt)}`);
  }
  if (time - Date.now() > DELAY_MAX_MS)
    refuse(option, `must be at most ten years ahead, got ${shown(time)}`);
  return time;
}
