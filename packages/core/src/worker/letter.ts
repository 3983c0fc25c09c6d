import type { Letter } from "../job/dead-letter.js";
import { numberOf, storedOptions } from "../job/fields.js";
import { CancelledError } from "./errors.js";
import type { Settlement } from "./outcome.js";

/**
 * The letter a failed job leaves to another queue, as JSON; empty where it leaves none. A cancelled job
 * leaves none: somebody wanted it to end.
 */
export function letterFor(
  q: string,
  { run, how, value, result }: Settlement,
  fallback: string | undefined,
): string {
  const { fields } = run;
  const own = storedOptions(fields).deadLetter;
  const to = typeof own === "string" ? own : fallback;
  if (how !== "failed" || to === undefined || to === q || result instanceof CancelledError)
    return "";
  const letter: Letter = {
    to,
    name: fields.name ?? "",
    data: fields.data ?? "",
    timestamp: Math.max(Math.floor(numberOf(fields.timestamp, 0)), 0),
    source: {
      queue: q,
      id: run.id,
      failedReason: value,
      attemptsMade: run.atm,
      opts: fields.opts ?? "",
      priority: Math.max(Math.floor(numberOf(fields.priority, 0)), 0),
    },
  };
  return JSON.stringify(letter);
}
