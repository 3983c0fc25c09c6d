import { LIMITS } from "@echomq/wire";

/** A member of a v1 state as it goes to v2. */
interface Carried {
  /** Score on the v2 wire, empty in a list. */
  readonly score: string;
  readonly priority: number;
  /** What had to be changed to fit, if anything. */
  readonly changed?: "priority";
}

/** How one state of v1 is carried: where it stands and what becomes of a member's score. */
export interface Carrier {
  /** Name of the state, of the cursor and of the v1 unit. */
  readonly state: "wait" | "paused" | "prioritized" | "delayed" | "completed" | "failed";
  readonly type: "list" | "zset";
  /** Unit of the v2 wire it goes to. */
  readonly unit: "wait" | "prioritized" | "delayed" | "completed" | "failed";
  /** `rank` is the place in v1's set, from 0. Null when v2 cannot hold the score. */
  carry(score: string, rank: number): Carried | null;
}

const inList = (): Carried => ({ score: "", priority: 0 });

const sameScore = (score: string): Carried | null => {
  const value = number(score);
  return Number.isFinite(value) ? { score: String(value), priority: 0 } : null;
};

/**
 * Every state that is carried, in order. `wait` goes before `paused`: a queue that was paused by an older line
 * and filled by a newer one has its older jobs in `paused`, and the oldest stand at the right end.
 */
export const CARRIERS: readonly Carrier[] = [
  { state: "wait", type: "list", unit: "wait", carry: inList },
  { state: "paused", type: "list", unit: "wait", carry: inList },
  { state: "prioritized", type: "zset", unit: "prioritized", carry: prioritized },
  { state: "delayed", type: "zset", unit: "delayed", carry: delayed },
  { state: "completed", type: "zset", unit: "completed", carry: sameScore },
  { state: "failed", type: "zset", unit: "failed", carry: sameScore },
];

/** Markers of the lines 3 and 4 inside `wait`; no job id may begin so there. */
export function isMarker(carrier: Carrier, member: string): boolean {
  return carrier.type === "list" && member.startsWith("0:");
}

/** v1's score is priority * 2^32 + counter; the rank takes the counter's place and keeps the order. */
function prioritized(score: string, rank: number): Carried | null {
  const value = number(score);
  if (!Number.isFinite(value)) return null;
  const found = Math.floor(value / LIMITS.priorityStep);
  const priority = Math.min(Math.max(found, 1), LIMITS.priorityMax);
  return {
    score: String(priority * LIMITS.priorityStep + ((rank + 1) % LIMITS.priorityStep)),
    priority,
    ...(priority === found ? {} : { changed: "priority" }),
  };
}

/** v1's score is ms * 4096 + n; the division by a power of two is exact. */
function delayed(score: string): Carried | null {
  const value = number(score) / LIMITS.delayParts;
  return Number.isFinite(value) ? { score: String(value), priority: 0 } : null;
}

/** A score as the server spells it. */
function number(score: string): number {
  return /^-?\d/.test(score) ? Number(score) : Number.NaN;
}
