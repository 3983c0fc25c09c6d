import { decideV1Guard, fenceError, ValidationError } from "@echomq/wire";
import { type GuardClient, senderOf } from "./client.js";
import { readProbes } from "./probes.js";

/** Which v1 queue is about to be used. */
export interface GuardOptions {
  /** The queue as v1 spells it, braces included. */
  readonly queue: string;
  /** Prefix of the v1 keys. Default `bull`. */
  readonly prefix?: string | undefined;
}

/**
 * Refuses a v1 client where the queue has moved, is moving, or lives on the v2 wire. Call it before
 * a v1 queue or worker is made; it reads a few keys in one round trip and writes nothing.
 * @throws FenceError `V2_KEYSPACE`, `MIGRATION_TOMBSTONE`, `MIGRATION_IN_PROGRESS` or
 * `FOREIGN_VERSION`; ServerError `NOPERM` when a probe is refused; ValidationError for the options.
 */
export async function guardV1Queue(client: GuardClient, options: GuardOptions): Promise<void> {
  const { queue, prefix = "bull" } = options;
  for (const [option, value] of Object.entries({ queue, prefix })) {
    if (typeof value !== "string" || value === "") {
      throw new ValidationError({ option, reason: "must be a text that is not empty" });
    }
  }
  const decision = decideV1Guard(await readProbes(senderOf(client), prefix, queue));
  if (decision.action === "refuse") throw fenceError(decision, queue);
}
