import { checkConnection } from "../connection/address.js";
import type { ConnectionOptions } from "../connection/types.js";
import { nameText, record, refuse, shown, whole } from "../options/check.js";
import { checkDefaultJobOptions, type JobOptions } from "../options/job-options.js";
import { LIMIT_MAX, PAYLOAD_MAX } from "../options/limits.js";
import { checkSchemas, type Schemas, type StandardSchemaV1 } from "../options/schema.js";
import { type Codec, codecOf, type Serializer } from "../options/serializer.js";
import { checkTelemetry } from "../telemetry/check.js";
import type { Telemetry } from "../telemetry/types.js";

/** Options of a queue. */
export interface QueueOptions extends ConnectionOptions {
  /** Options for jobs that do not set them. */
  readonly defaultJobOptions?: Omit<JobOptions, "jobId"> | undefined;
  /** Largest payload, in bytes as it is stored. Default, and most, 52 428 800. */
  readonly maxDataSize?: number | undefined;
  /** Schemas by job name: a payload is checked before it is added, and what the schema gives is stored. */
  readonly schemas?: Readonly<Record<string, StandardSchemaV1>> | undefined;
  /** How payloads and results are written; the queue's workers need the same. Default JSON. */
  readonly serializer?: Serializer | undefined;
  /** Told to the queue before the first write of this object. What was told last holds for all. */
  readonly streams?: StreamsOptions | undefined;
  /** Takes in traces and metrics of what is added. Default none. */
  readonly telemetry?: Telemetry | undefined;
}

/** What a queue keeps of its streams. */
export interface StreamsOptions {
  readonly events?: EventStreamOptions | undefined;
}

/** What a queue keeps of its events. */
export interface EventStreamOptions {
  /** Entries that stay, exactly below 1 000; 0 for no events. Default 10 000. */
  readonly maxLen?: number | undefined;
}

/** A queue's options, checked and complete. */
export interface QueueSettings {
  readonly defaults: JobOptions;
  readonly maxDataSize: number;
  readonly schemas: Schemas;
  readonly codec: Codec;
  readonly eventsMax: number | undefined;
  readonly telemetry: Telemetry | undefined;
}

/** Most v1 prefixes: each is asked for at every new connection. */
const PREFIXES_MAX = 100;

/** Options of the queues there are, for the testing aid. */
const known = new WeakMap<object, { readonly name: string; readonly options: QueueOptions }>();

export function keepOptions(queue: object, name: string, options: QueueOptions): void {
  known.set(queue, { name, options });
}

export function optionsOf(
  queue: object,
): { readonly name: string; readonly options: QueueOptions } | undefined {
  return known.get(queue);
}

/** Options every object with a connection understands. */
export const CONNECTION_KEYS = ["connection", "v1Prefixes", "commandTimeout", "retryTime"] as const;

const KNOWN = [
  ...CONNECTION_KEYS,
  "defaultJobOptions",
  "maxDataSize",
  "schemas",
  "serializer",
  "streams",
  "telemetry",
];

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
    eventsMax: eventsMaxOf(opts.streams),
    telemetry: checkTelemetry(opts.telemetry),
  };
}

function eventsMaxOf(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const { events } = record("streams", value, ["events"]);
  if (events === undefined) return undefined;
  const { maxLen } = record("streams.events", events, ["maxLen"]);
  return whole("streams.events.maxLen", maxLen, 0, LIMIT_MAX);
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
  if (!Array.isArray(prefixes)) {
    refuse("v1Prefixes", `must be a list of prefixes, got ${shown(prefixes)}`);
  }
  if (prefixes.length > PREFIXES_MAX) {
    refuse("v1Prefixes", `must be at most ${PREFIXES_MAX} prefixes, got ${prefixes.length}`);
  }
  for (const [at, one] of prefixes.entries()) nameText(`v1Prefixes[${at}]`, one);
}
