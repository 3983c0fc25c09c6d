import type { Deduplication, Retention } from "../../../src/index.js";

/** How a job is added, as plain data. */
export interface Spec {
  readonly id?: string;
  readonly delay: number;
  readonly priority: number;
  readonly lifo: boolean;
  readonly attempts: number;
  /** Ms between attempts. */
  readonly backoff: number;
  readonly completed: Retention;
  readonly failed: Retention;
  readonly ttl?: number;
  readonly deduplication?: Deduplication;
}

export type Place =
  | "waiting"
  | "prioritized"
  | "delayed"
  | "active"
  | "completed"
  | "failed"
  | "held";

/** A job as the model knows it. */
export interface ModelJob {
  readonly id: string;
  readonly spec: Spec;
  readonly addedAt: number;
  place: Place;
  priority: number;
  /** When its present or last delay ends, in server ms. */
  due: number;
  /** What the field `delay` says. */
  delay: number;
  made: number;
  started: number;
  stalls: number;
  /** How often it was put back unbegun after its lease ended. */
  released: number;
  verdict: "cancelled" | "stalled" | undefined;
  /** When it ended. */
  endedAt: number | undefined;
  reason: string | undefined;
  result: string | undefined;
  lines: number;
}

/** A lease. */
export interface ModelRun {
  readonly id: string;
  readonly token: string;
  readonly worker: number;
  readonly claimedAt: number;
  /** Place among all claims. */
  readonly order: number;
  deadline: number;
  begun: boolean;
}

/** Which job stands for a deduplication id. */
export interface ModelRecord {
  job: string;
  next: string | undefined;
  /** Set where it lasts until a time, whatever becomes of its job. */
  until: number | undefined;
}

export function newJob(id: string, spec: Spec, now: number): ModelJob {
  return {
    id,
    spec,
    addedAt: now,
    place: "waiting",
    priority: spec.priority,
    due: now + spec.delay,
    delay: spec.delay,
    made: 0,
    started: 0,
    stalls: 0,
    released: 0,
    verdict: undefined,
    endedAt: undefined,
    reason: undefined,
    result: undefined,
    lines: 0,
  };
}

/** How many ended jobs stay, and for how long in ms, 0 for ever. */
export interface Keep {
  readonly count: number;
  readonly ageMs: number;
}

export function keepOf(retention: Retention): Keep {
  if (retention === true) return { count: 0, ageMs: 0 };
  if (retention === false) return { count: Number.MAX_SAFE_INTEGER, ageMs: 0 };
  if (typeof retention === "number") return { count: retention, ageMs: 0 };
  const { count = Number.MAX_SAFE_INTEGER, age = 0 } = retention;
  return { count, ageMs: age * 1_000 };
}
