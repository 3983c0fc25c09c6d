import { ConfigError, queueName } from "@echomq/wire";
import type { ConnectionOption, ConnectionOptions } from "../connection/types.js";
import type { JobMap, JobMapOf } from "../job/types.js";
import { flag, record, whole } from "../options/check.js";
import { CONNECTION_KEYS, optionsOf, type QueueOptions } from "../queue/options.js";
import type { Queue } from "../queue/queue.js";
import { WORKER_KEYS, type WorkerOptions } from "../worker/options.js";
import { clockOf, type FakeClock } from "./clock.js";

/** What a drain decides by itself. */
type Own = "autorun" | "claimAhead" | "name" | "metrics";

/** How a queue is drained; what else a worker takes holds here too, such as `concurrency`, 1 by default. */
export interface DrainOptions extends Omit<WorkerOptions, keyof ConnectionOptions | Own> {
  /**
   * Also runs what is delayed, attempts behind a backoff and jobs behind a rate: moves the clock of the
   * connection on to the next of them, until there is none. Default false: they stay.
   */
  readonly delayed?: boolean | undefined;
  /** How often the processor may begin, over all jobs. Default 10 000. */
  readonly limit?: number | undefined;
}

/** A queue by its name and connection. */
export interface QueueAddress extends ConnectionOptions {
  readonly name: string;
}

/** What a drain works with. */
export interface DrainSettings {
  readonly name: string;
  readonly worker: WorkerOptions;
  /** The clock to move; undefined where time stays. */
  readonly clock: FakeClock | undefined;
  readonly limit: number;
}

const LIMIT = 10_000;
const OWN: readonly string[] = [...CONNECTION_KEYS, "autorun", "claimAhead", "name", "metrics"];
const KNOWN = [...WORKER_KEYS.filter((key) => !OWN.includes(key)), "delayed", "limit"];

/**
 * Checks what `drainQueue` was given; the worker checks its own options.
 * @throws ValidationError `VALIDATION` naming the option.
 * @throws ConfigError `CONFIG` where time is to be moved and the connection has no clock.
 */
export function drainSettings<M extends JobMapOf<M> = JobMap>(
  queue: Queue<M> | QueueAddress,
  options: unknown,
): DrainSettings {
  const { delayed, limit, ...worker } = record(
    "options",
    options === undefined ? {} : options,
    KNOWN,
  );
  const { name, ...of } = addressOf(queue);
  const moves = flag("options.delayed", delayed) ?? false;
  const clock = moves ? clockOf(of.connection) : undefined;
  if (moves && clock === undefined) {
    const message =
      "options.delayed: needs a clock to move; give the queue clock.connection(…) of createFakeClock()";
    throw new ConfigError({ option: "options.delayed", message });
  }
  return {
    name,
    clock,
    limit: whole("options.limit", limit, 1, Number.MAX_SAFE_INTEGER) ?? LIMIT,
    worker: { ...of, ...(worker as Omit<WorkerOptions, "connection">), autorun: false },
  };
}

/** The name of a queue and what a worker needs to reach it as the queue does. */
function addressOf(queue: unknown): QueueAddress & Pick<QueueOptions, "serializer"> {
  const known = typeof queue === "object" && queue !== null ? optionsOf(queue) : undefined;
  if (known) {
    const { connection, v1Prefixes, commandTimeout, retryTime, serializer } = known.options;
    const { name } = known;
    return { name, connection, v1Prefixes, commandTimeout, retryTime, serializer };
  }
  const { name, ...rest } = record("queue", queue, ["name", ...CONNECTION_KEYS]);
  const connection = rest.connection as ConnectionOption;
  return { ...rest, connection, name: queueName(name, "queue.name") };
}
