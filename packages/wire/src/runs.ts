import { ValidationError } from "./errors.js";

/** Tells whether a text is the id of a migration run. */
export function isRun(text: string): boolean {
  return /^[0-9A-Za-z-]{1,64}$/.test(text);
}

/**
 * Checks the id of a migration run: 1 to 64 letters, digits and hyphens.
 * @throws ValidationError `VALIDATION` naming `run`.
 */
export function runId(value: string): string {
  if (typeof value === "string" && isRun(value)) return value;
  throw new ValidationError({
    option: "run",
    reason: "must be 1 to 64 letters, digits or hyphens",
  });
}

/** Tells whether a text is the name of a migration phase. */
export function isPhase(text: string): boolean {
  return /^[a-z][a-z-]{0,31}$/.test(text);
}

/** Phases in which nothing of the queue has moved yet, or nothing is left to do. */
const AT_REST: ReadonlySet<string> = new Set([
  "discover",
  "plan",
  "drain",
  "committed",
  "rolled-back",
]);

/** Tells whether a journal's phase means that neither v1 nor v2 clients may work on the queue. */
export function phaseUnderWay(phase: string): boolean {
  return !AT_REST.has(phase);
}
