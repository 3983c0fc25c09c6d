import { hurt, type Window } from "../windows.js";
import type { Known, Ran } from "./jobs.js";

/** How long a fault goes on to be felt, beside the length of a lease: reconnecting, sweeping, in ms. */
const FELT_MS = 3_000;

/** Ends after which a job goes on by itself. */
const GOES_ON: readonly (Ran["how"] | undefined)[] = ["failed", "later", "wait", "rate"];

/**
 * Tells why a job ran more often than its plan says, where no fault excuses it: a run that came to its
 * end, or never did, was followed by another.
 */
export function doubled(
  { id, plan, runs, ops }: Known,
  windows: readonly Window[],
  leaseMs: number,
): string | undefined {
  for (const [at, run] of runs.slice(0, -1).entries()) {
    if (GOES_ON.includes(run.how)) continue;
    if (ops.has("retry") && run.how !== "done") continue;
    // A timeout fails the attempt whatever its handler does.
    if (plan?.timeout !== undefined) continue;
    const next = runs[at + 1] as Ran;
    const to = run.to ?? next.from;
    if (hurt(windows, run.who, { from: run.from, to }, leaseMs + FELT_MS)) continue;
    const how = run.how ?? "never ended";
    return `${id} ran again by ${next.who} after a run of ${run.who} that ${how}, and nothing was hurt`;
  }
  return undefined;
}

/**
 * Tells which end was written by a run that did not hold the lease any more: another run of the job was
 * claimed later, and had begun before that end was written. All of it happened on one machine, whose
 * clock the server and the records share.
 */
export function stolen({ id, runs, events }: Known): string | undefined {
  for (const { code, at, value } of events) {
    if (code !== "c" && code !== "f" && code !== "r") continue;
    const token = tokenOf(value);
    const run = runs.find((one) => one.token === token);
    if (run === undefined) continue;
    const later = runs.find(
      (one) => one.claimed > run.claimed && one.from > run.from && one.from < at,
    );
    if (later === undefined) continue;
    return `${id} was ended at ${at} by ${run.who}, though ${later.who} had it since ${later.from}`;
  }
  return undefined;
}

/** The token that a handler put into its result or its error. */
function tokenOf(value: string): string | undefined {
  return /"token":"([^"]+)"/.exec(value)?.[1] ?? /^planned (\S+)$/.exec(value)?.[1];
}
