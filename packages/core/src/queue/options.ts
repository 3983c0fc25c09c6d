import { checkConnection } from "../connection/address.js";
import type { ConnectionOptions } from "../connection/types.js";
import { record, refuse, shown, whole } from "../options/check.js";
import { checkDefaultJobOptions, type JobOptions } from "../options/job-options.js";
import { PAYLOAD_MAX } from "../options/limits.js";
import { checkSchemas, type Schemas, type StandardSchemaV1 } from "../options/schema.js";
import { type Codec, codecOf, type Serializer } from "../options/serializer.js";

/** Options of a queue. */
export interface QueueOptions extends ConnectionOptions {
  /** Options for jobs that do not set them. */
  readonly defaultJobOptions?: Omit<JobOptions, "jobId">;
  /** Largest payload, in bytes as it is stored. Default, and most, 52 428 800. */
  readonly maxDataSize?: number;
  /** Schemas by job name: a payload is checked before it is added, and what the schema gives is stored. */
  readonly schemas?: Readonly<Record<string, StandardSchemaV1>>;
  /** How payloads and results are written; the queue's workers need the same. Default JSON. */
  readonly serializer?: Serializer;
}

/** A queue's options, checked and complete. */
export interface QueueSettings {
  readonly defaults: JobOptions;
  readonly maxDataSize: number;
  readonly schemas: Schemas;
  readonly codec: Codec;
}

/** Options every object with a connection understands. */
export const CONNECTION_KEYS = ["connection", "v1Prefixes", "commandTimeout", "retryTime"] as const;

const KNOWN = [...CONNECTION_KEYS, "defaultJobOptions", "maxDataSize", "schemas", "serializer"];

/**
 * Checks the options of a queue.
 * @throws ValidationError `VALIDATION` naming the option.
 */
export function checkQueueOptions(value: unknown): QueueSettings {
  const opts = record("options", value, KNOWN);
  checkConnectionOptions(opts);
  return {
    defaults: checkDefaultJobOptions(opts.defaultJobOptions),
    maxDataSize: whole("maxDataSize", opts.maxDataSize, 1, PAYLOAD_MAX) ?? PAYLOAD_MAX,
    schemas: checkSchemas(opts.schemas),
    codec: codecOf(opts.serializer),
  };
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
