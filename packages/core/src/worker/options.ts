import type { ConnectionOptions } from "../connection/types.js";
import { flag, nameText, record, refuse, whole } from "../options/check.js";
import { CONCURRENCY_MAX, LEASE_MAX_MS, LEASE_MIN_MS } from "../options/limits.js";
import {
  checkRetention,
  KEEP_COMPLETED,
  KEEP_FAILED,
  type Keep,
  keepOf,
  type Retention,
} from "../options/retention.js";
import { CONNECTION_KEYS, checkConnectionOptions } from "../queue/options.js";

/** Options of a worker. */
export interface WorkerOptions extends ConnectionOptions {
  /** How many jobs run at once. Default 1. */
  readonly concurrency?: number;
  /** Length of a lease in ms; it is renewed at half of it. Default 30 000. */
  readonly lockDuration?: number;
  /** Time between two looks for lost leases, in ms. Default 30 000. */
  readonly stalledInterval?: number;
  /** How often a job may lose its worker before it fails. Default 1. */
  readonly maxStalledCount?: number;
  /** Whether the worker starts by itself. Default true. */
  readonly autorun?: boolean;
  /** What stays of completed jobs that do not say themselves. Default 24 hours and 10 000. */
  readonly removeOnComplete?: Retention;
  /** What stays of failed jobs that do not say themselves. Default 7 days and 10 000. */
  readonly removeOnFail?: Retention;
  /** Name this worker is listed with, by `Queue.getWorkers`. */
  readonly name?: string;
  /** Counts ended jobs per minute and keeps that many minutes, for `Queue.getMetrics`. Default: no counts. */
  readonly metrics?: { readonly maxDataPoints: number };
}

/** A worker's options, checked and complete. Times in ms. */
export interface WorkerSettings {
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly sweepMs: number;
  readonly stallBudget: number;
  readonly autorun: boolean;
  readonly keepCompleted: Keep;
  readonly keepFailed: Keep;
  readonly name: string | undefined;
  /** Minutes of counts to keep; undefined counts nothing. */
  readonly maxDataPoints: number | undefined;
}

const KNOWN = [
  ...CONNECTION_KEYS,
  "concurrency",
  "lockDuration",
  "stalledInterval",
  "maxStalledCount",
  "autorun",
  "removeOnComplete",
  "removeOnFail",
  "name",
  "metrics",
];

/**
 * Checks the options of a worker.
 * @throws ValidationError `VALIDATION` naming the option.
 */
export function checkWorkerOptions(value: unknown): WorkerSettings {
  const opts = record("options", value, KNOWN);
  checkConnectionOptions(opts);
  return {
    concurrency: whole("concurrency", opts.concurrency, 1, CONCURRENCY_MAX) ?? 1,
    leaseMs: whole("lockDuration", opts.lockDuration, LEASE_MIN_MS, LEASE_MAX_MS) ?? 30_000,
    sweepMs: whole("stalledInterval", opts.stalledInterval, LEASE_MIN_MS, LEASE_MAX_MS) ?? 30_000,
    stallBudget: whole("maxStalledCount", opts.maxStalledCount, 0, 1_000) ?? 1,
    autorun: flag("autorun", opts.autorun) ?? true,
    keepCompleted: keepOf(
      checkRetention("removeOnComplete", opts.removeOnComplete),
      KEEP_COMPLETED,
    ),
    keepFailed: keepOf(checkRetention("removeOnFail", opts.removeOnFail), KEEP_FAILED),
    name: opts.name === undefined ? undefined : nameText("name", opts.name),
    maxDataPoints: metricsOf(opts.metrics),
  };
}

/** Longest counts: a year of minutes. */
const DATA_POINTS_MAX = 525_600;

function metricsOf(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const { maxDataPoints } = record("metrics", value, ["maxDataPoints"]);
  const option = "metrics.maxDataPoints";
  return whole(option, maxDataPoints, 1, DATA_POINTS_MAX) ?? refuse(option, "is required");
}
