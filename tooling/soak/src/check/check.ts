import type { Happened } from "../history.js";
import type { Plan } from "../records.js";
import type { Window } from "../windows.js";
import type { Evidence, Known } from "./jobs.js";
import { walk } from "./life.js";
import { outOfOrder } from "./order.js";
import { doubled, stolen } from "./runs.js";

/** What stands on the server when all is over. */
export interface Remains {
  readonly completed: ReadonlyMap<string, number>;
  readonly failed: ReadonlyMap<string, number>;
  /** Ids in the queue of letters. */
  readonly letters: ReadonlySet<string>;
}

export interface Case {
  readonly q: string;
  readonly evidence: Evidence;
  readonly events: readonly Happened[];
  readonly remains: Remains;
  readonly windows: readonly Window[];
  readonly leaseMs: number;
}

/** Everything that is not as it should be, in words. */
export function check(it: Case): string[] {
  const found: string[] = [];
  for (const known of it.evidence.jobs.values()) found.push(...checkJob(it, known));
  found.push(...outOfOrder(it.events, it.evidence.jobs).map((text) => `ORDER ${text}`));
  found.push(...together(it).map((text) => `DEDUPLICATION ${text}`));
  for (const [name, ids] of [
    ["completed", it.remains.completed],
    ["failed", it.remains.failed],
  ] as const) {
    for (const id of ids.keys()) {
      const stand = walk(it.evidence.jobs.get(id)?.events ?? []).stand;
      if (stand !== name) found.push(`COUNT ${id} stands in ${name}, by its events it is ${stand}`);
    }
  }
  return found;
}

function checkJob(it: Case, known: Known): string[] {
  const { id, plan, acknowledged, events, ops } = known;
  const found: string[] = [];
  if (events.length === 0) {
    // Asked about by name, and known to nobody else.
    if (acknowledged) found.push(`LOST ${id} was added and never heard of again`);
    else if (known.runs.length > 0) found.push(`EVENTS ${id} ran and was never told of`);
    return found;
  }
  const { stand, wrong, ends } = walk(events);
  if (wrong !== undefined) found.push(`STATE ${id}: ${wrong}`);
  else if (stand === "line" || stand === "delayed" || stand === "active") {
    found.push(`LOST ${id} is still ${stand}`);
  }
  const removable = ops.has("remove") || plan?.dedup !== undefined || ends > 0;
  if (stand === "removed" && plan !== undefined && !removable) {
    found.push(`LOST ${id} was removed, and nobody asked for it`);
  }
  const twice = doubled(known, it.windows, it.leaseMs);
  if (twice !== undefined) found.push(`TWICE ${twice}`);
  const theft = stolen(known);
  if (theft !== undefined) found.push(`LEASE ${theft}`);
  if (plan !== undefined) found.push(...checkPlan(it, known, plan, { stand, ends }));
  return found;
}

/** Whether a job ended as its plan says. */
function checkPlan(
  it: Case,
  { id, events, ops }: Known,
  plan: Plan,
  { stand, ends }: { readonly stand: string; readonly ends: number },
): string[] {
  const found: string[] = [];
  const { completed, failed, letters } = it.remains;
  const remains = { completed, failed }[stand as "completed"];
  if (remains !== undefined && remains.has(id) !== plan.kept) {
    found.push(`RETENTION ${id} is ${stand} and ${plan.kept ? "does not stand" : "still stands"}`);
  }
  const last = events.filter(({ code }) => code === "f").at(-1);
  const cancelled = events.some(({ code, value }) => code === "f" && value.startsWith("cancelled"));
  const letter = plan.letter && last !== undefined && !last.value.startsWith("cancelled");
  if (!cancelled && letters.has(`${it.q}:${id}`) !== letter) {
    found.push(`LETTER ${id} ${letter ? "left no letter" : "left a letter"}`);
  }
  if (ends !== 1 || ops.has("retry") || cancelled) return found;
  if (plan.ttl !== undefined || plan.timeout !== undefined) return found;
  const fails = plan.first === "fatal" || plan.fails >= plan.attempts;
  if (stand === "failed" && !fails) found.push(`PLAN ${id} failed: ${last?.value}`);
  if (stand === "completed" && fails) found.push(`PLAN ${id} completed, and could not`);
  const made = remains?.get(id);
  // Each attempt is charged once, however often its settlement was sent; a lost worker charges none.
  const expected = stand === "completed" ? plan.fails + 1 : plan.attempts;
  if (made !== undefined && plan.first !== "fatal" && made !== expected) {
    found.push(`ATTEMPTS ${id} counts ${made}, and made ${expected}`);
  }
  return found;
}

/** Finds jobs of one deduplication id, of the plain mode, that stood at the same time. */
function together({ events, evidence }: Case): string[] {
  const standing = new Map<string, string>();
  const found: string[] = [];
  for (const { id, code } of events) {
    const dedup = evidence.jobs.get(id)?.plan?.dedup;
    if (dedup === undefined || !dedup.startsWith("s")) continue;
    if (evidence.jobs.get(id)?.ops.has("retry")) continue;
    const other = standing.get(dedup);
    if ((code === "w" || code === "d") && other !== undefined && other !== id) {
      found.push(`${id} was added for ${dedup} while ${other} stood for it`);
    }
    if (code === "w" || code === "d") standing.set(dedup, id);
    if ((code === "c" || code === "f" || code === "x") && other === id) standing.delete(dedup);
  }
  return found;
}
