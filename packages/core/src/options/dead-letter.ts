import { queueName } from "@echomq/wire";
import { record } from "./check.js";

/** Where jobs go that failed for good. */
export interface DeadLetter {
  readonly queue: string;
}

/**
 * The bare name of a dead-letter queue.
 * @throws ValidationError `VALIDATION` naming the option.
 */
export function checkDeadLetter(option: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return queueName(record(option, value, ["queue"]).queue, `${option}.queue`);
}
