import { checkConnection } from "../connection/address.js";
import type { ConnectionOptions } from "../connection/types.js";
import { record, refuse, shown, whole } from "../options/check.js";
import { checkDefaultJobOptions, type JobOptions } from "../options/job-options.js";

/** Options of a queue. */
export interface QueueOptions extends ConnectionOptions {
  /** Options for jobs that do not set them. */
  readonly defaultJobOptions?: Omit<JobOptions, "jobId">;
}

/** Options every object with a connection understands. */
export const CONNECTION_KEYS = ["connection", "v1Prefixes", "commandTimeout", "retryTime"] as const;

/**
 * Checks the options of a queue.
 * @throws ValidationError `VALIDATION` naming the option.
 */
export function checkQueueOptions(value: unknown): { readonly defaults: JobOptions } {
  const opts = record("options", value, [...CONNECTION_KEYS, "defaultJobOptions"]);
  checkConnectionOptions(opts);
  return { defaults: checkDefaultJobOptions(opts.defaultJobOptions) };
}

/**
 * Checks what every object with a connection takes.
 * @throws ValidationError `VALIDATION` naming the option.
 */
export function checkConnectionOptions(opts: Readonly<Record<string, unknown>>): void {
  checkConnection(opts.connection);
  whole("commandTimeout", opts.commandTimeout, 100, 3_600_000);
  whole("retryTime", opts.retryTime, 0, 86_400_000);
  const prefixes = opts.v1Prefixes;
  if (prefixes === undefined) return;
  if (!Array.isArray(prefixes) || !prefixes.every((one) => typeof one === "string" && one !== "")) {
    refuse("v1Prefixes", `must be a list of prefixes, got ${shown(prefixes)}`);
  }
}
