import type { ConnectionOptions } from "../connection/types.js";
import { flag, record, whole } from "../options/check.js";
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
  };
}
