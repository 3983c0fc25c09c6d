import type { ResourceLimits } from "node:worker_threads";
import type { ConnectionOptions } from "../connection/types.js";
import { flag, nameText, record, refuse, shown, whole } from "../options/check.js";
import { checkDeadLetter, type DeadLetter } from "../options/dead-letter.js";
import {
  CONCURRENCY_MAX,
  LEASE_MAX_MS,
  LEASE_MIN_MS,
  PAYLOAD_MAX,
  TIMER_MAX_MS,
} from "../options/limits.js";
import { type Rate, rateOf } from "../options/rate.js";
import {
  checkRetention,
  KEEP_COMPLETED,
  KEEP_FAILED,
  type Keep,
  keepOf,
  type Retention,
} from "../options/retention.js";
import { type Codec, codecOf, type Serializer } from "../options/serializer.js";
import { CONNECTION_KEYS, checkConnectionOptions } from "../queue/options.js";
import { checkTelemetry } from "../telemetry/check.js";
import type { Telemetry } from "../telemetry/types.js";
import { type AdvancedOptions, type BackoffStrategy, strategyOf } from "./backoff.js";

/** Jobs claimed beyond the free slots: a number, 0 for none, or `auto` for what short jobs can use. */
export type ClaimAhead = "auto" | number;

/** Options of a worker. */
export interface WorkerOptions extends ConnectionOptions {
  /** How many jobs run at once. Default 1. */
  readonly concurrency?: number | undefined;
  /** Length of a lease in ms; it is renewed at half of it. Default 30 000. */
  readonly lockDuration?: number | undefined;
  /** Time between two looks for lost leases, in ms. Default 30 000. */
  readonly stalledInterval?: number | undefined;
  /** How often a job may lose its worker before it fails. Default 1. */
  readonly maxStalledCount?: number | undefined;
  /** How long one run may take when its job does not say, in ms; longer ones fail their attempt. Default none. */
  readonly jobTimeout?: number | undefined;
  /** Most jobs to start in a window of time. Default none. */
  readonly limiter?: Limiter | undefined;
  /** Limits of the threads of a handler given as a file. */
  readonly resourceLimits?: ThreadLimits | undefined;
  /** What the worker computes by functions of yours, such as a backoff. */
  readonly settings?: AdvancedOptions | undefined;
  /** Whether the worker starts by itself. Default true. */
  readonly autorun?: boolean | undefined;
  /** What stays of completed jobs that do not say themselves. Default 24 hours and 10 000. */
  readonly removeOnComplete?: Retention | undefined;
  /** What stays of failed jobs that do not say themselves. Default 7 days and 10 000. */
  readonly removeOnFail?: Retention | undefined;
  /**
   * Jobs to hold ready beyond `concurrency`, 0 to 64. `auto` holds at most 5 ms of work, and nothing
   * from concurrency 50 on, for jobs of 5 ms or more, or under a limit of the queue. Fewer round trips
   * for a weaker contract: what a dead worker held ready waits for its lease to end. Default 0.
   */
  readonly claimAhead?: ClaimAhead | undefined;
  /**
   * Whether a worker with a backlog keeps its event loop awake while an answer of the server is due any
   * moment: for 0.25 ms at most, where answers often come that soon and there is more than one core.
   * Short jobs are done sooner; a worker of few slots takes a whole core while it is busy. Default true.
   */
  readonly busyWait?: boolean | undefined;
  /** How payloads and results are written; the same as the queue's. Default JSON. */
  readonly serializer?: Serializer | undefined;
  /** Largest payload a handler may store by `updateData`, in bytes; as the queue's. Default 52 428 800. */
  readonly maxDataSize?: number | undefined;
  /** Queue that gets a copy of each job that fails for good and does not name one itself. */
  readonly deadLetter?: DeadLetter | undefined;
  /** Name this worker is listed with, by `Queue.getWorkers`. */
  readonly name?: string | undefined;
  /** Counts ended jobs per minute and keeps that many minutes, for `Queue.getMetrics`. Default: no counts. */
  readonly metrics?: { readonly maxDataPoints: number } | undefined;
  /** Takes in traces and metrics of the runs. Default none. */
  readonly telemetry?: Telemetry | undefined;
}

/** Limits of a thread in MB, as `worker_threads` takes them. */
export interface ThreadLimits {
  readonly maxOldGenerationSizeMb?: number | undefined;
  readonly maxYoungGenerationSizeMb?: number | undefined;
  readonly codeRangeSizeMb?: number | undefined;
  readonly stackSizeMb?: number | undefined;
}

/** At most `max` jobs start in a window of `duration` ms, which begins with its first job. */
export interface Limiter {
  readonly max: number;
  readonly duration: number;
  /**
   * `queue`: the jobs of all workers that have a limiter are counted together; give each the same.
   * `worker`: this worker's own are counted. Default `queue`.
   */
  readonly scope?: "queue" | "worker" | undefined;
}

/** A worker's options, checked and complete. Times in ms. */
export interface WorkerSettings {
  /** Jobs are fetched by hand: none is claimed that no caller wants. */
  readonly byHand: boolean;
  /** May change while the worker runs. */
  concurrency: number;
  readonly jobTimeoutMs: number | undefined;
  /** Rate of the queue as this worker knows it. */
  readonly queueRate: Rate | undefined;
  /** Rate of this worker alone. */
  readonly ownRate: Rate | undefined;
  readonly backoffStrategy: BackoffStrategy | undefined;
  readonly resourceLimits: ResourceLimits | undefined;
  readonly claimAhead: ClaimAhead;
  readonly busyWait: boolean;
  readonly leaseMs: number;
  readonly sweepMs: number;
  readonly stallBudget: number;
  readonly autorun: boolean;
  readonly keepCompleted: Keep;
  readonly keepFailed: Keep;
  readonly codec: Codec;
  readonly maxDataSize: number;
  /** Bare name of the dead-letter queue. */
  readonly deadLetter: string | undefined;
  readonly name: string | undefined;
  /** Minutes of counts to keep; undefined counts nothing. */
  readonly maxDataPoints: number | undefined;
  readonly telemetry: Telemetry | undefined;
}

/** Options of a worker, by name. */
export const WORKER_KEYS: readonly string[] = [
  ...CONNECTION_KEYS,
  "concurrency",
  "claimAhead",
  "busyWait",
  "jobTimeout",
  "limiter",
  "resourceLimits",
  "settings",
  "lockDuration",
  "stalledInterval",
  "maxStalledCount",
  "autorun",
  "removeOnComplete",
  "removeOnFail",
  "deadLetter",
  "serializer",
  "maxDataSize",
  "name",
  "metrics",
  "telemetry",
];

/**
 * Checks the options of a worker.
 * @throws ValidationError `VALIDATION` naming the option.
 */
export function checkWorkerOptions(value: unknown, byHand: boolean = false): WorkerSettings {
  const opts = record("options", value, WORKER_KEYS);
  checkConnectionOptions(opts);
  const limiter = limiterOf(opts.limiter);
  const concurrency = checkConcurrency(opts.concurrency) ?? 1;
  const claimAhead = checkAhead(opts.claimAhead);
  return {
    byHand,
    // By hand there are as many slots as callers that want or hold a job.
    concurrency: byHand ? 0 : concurrency,
    jobTimeoutMs: whole("jobTimeout", opts.jobTimeout, 1, TIMER_MAX_MS),
    queueRate: limiter?.scope === "queue" ? limiter : undefined,
    ownRate: limiter?.scope === "worker" ? limiter : undefined,
    backoffStrategy: strategyOf(opts.settings),
    resourceLimits: limitsOf(opts.resourceLimits),
    claimAhead: byHand ? 0 : claimAhead,
    busyWait: flag("busyWait", opts.busyWait) ?? true,
    leaseMs: whole("lockDuration", opts.lockDuration, LEASE_MIN_MS, LEASE_MAX_MS) ?? 30_000,
    sweepMs: whole("stalledInterval", opts.stalledInterval, LEASE_MIN_MS, LEASE_MAX_MS) ?? 30_000,
    stallBudget: whole("maxStalledCount", opts.maxStalledCount, 0, 1_000) ?? 1,
    autorun: flag("autorun", opts.autorun) ?? true,
    keepCompleted: keepOf(
      checkRetention("removeOnComplete", opts.removeOnComplete),
      KEEP_COMPLETED,
    ),
    keepFailed: keepOf(checkRetention("removeOnFail", opts.removeOnFail), KEEP_FAILED),
    codec: codecOf(opts.serializer),
    maxDataSize: whole("maxDataSize", opts.maxDataSize, 1, PAYLOAD_MAX) ?? PAYLOAD_MAX,
    deadLetter: checkDeadLetter("deadLetter", opts.deadLetter),
    name: opts.name === undefined ? undefined : nameText("name", opts.name),
    maxDataPoints: metricsOf(opts.metrics),
    telemetry: checkTelemetry(opts.telemetry),
  };
}

/**
 * How many jobs may run at once.
 * @throws ValidationError `VALIDATION` naming `concurrency`.
 */
export function checkConcurrency(value: unknown): number | undefined {
  return whole("concurrency", value, 1, CONCURRENCY_MAX);
}

function limiterOf(value: unknown): (Rate & { readonly scope: "queue" | "worker" }) | undefined {
  if (value === undefined) return undefined;
  const { max, duration, scope = "queue" } = record("limiter", value, ["max", "duration", "scope"]);
  if (scope !== "queue" && scope !== "worker") {
    return refuse("limiter.scope", `must be queue or worker, got ${shown(scope)}`);
  }
  return { ...rateOf("limiter.max", max, "limiter.duration", duration), scope };
}

const RESOURCES = [
  "maxOldGenerationSizeMb",
  "maxYoungGenerationSizeMb",
  "codeRangeSizeMb",
  "stackSizeMb",
] as const;

function limitsOf(value: unknown): ResourceLimits | undefined {
  if (value === undefined) return undefined;
  const given = record("resourceLimits", value, RESOURCES);
  for (const name of RESOURCES) whole(`resourceLimits.${name}`, given[name], 1, 1_048_576);
  return { ...given };
}

/** Longest counts: a year of minutes. */
const DATA_POINTS_MAX = 525_600;

function metricsOf(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const { maxDataPoints } = record("metrics", value, ["maxDataPoints"]);
  const option = "metrics.maxDataPoints";
  return whole(option, maxDataPoints, 1, DATA_POINTS_MAX) ?? refuse(option, "is required");
}

function checkAhead(value: unknown): ClaimAhead {
  if (value === "auto") return value;
  if (typeof value === "string")
    refuse("claimAhead", "must be auto or a whole number from 0 to 64");
  return whole("claimAhead", value, 0, 64) ?? 0;
}
