/** Lines of v1 whose layout is known. */
export type V1Line = "3" | "4" | "5" | "6";

/** A queue-level key of v1. */
export interface V1UnitSpec {
  readonly unit: string;
  /** Whether jobs, or the plan of future jobs, stand in it. */
  readonly holder: boolean;
  /** Lines that write it. */
  readonly lines: readonly V1Line[];
}

const ALL: readonly V1Line[] = ["3", "4", "5", "6"];

/**
 * Every queue-level key of the v1 lines, frozen: v1 will not change any more. The first four are named
 * by position in the scripts; holders come before the rest.
 */
export const V1_UNITS: readonly V1UnitSpec[] = [
  { unit: "meta", holder: false, lines: ALL },
  { unit: "active", holder: true, lines: ALL },
  { unit: "waiting-children", holder: true, lines: ALL },
  { unit: "repeat", holder: true, lines: ALL },
  { unit: "wait", holder: true, lines: ALL },
  { unit: "paused", holder: true, lines: ["3", "4", "5"] },
  { unit: "delayed", holder: true, lines: ALL },
  { unit: "prioritized", holder: true, lines: ["4", "5", "6"] },
  { unit: "priority", holder: true, lines: ["3"] },
  { unit: "completed", holder: true, lines: ALL },
  { unit: "failed", holder: true, lines: ALL },
  { unit: "id", holder: false, lines: ALL },
  { unit: "pc", holder: false, lines: ["4", "5", "6"] },
  { unit: "events", holder: false, lines: ALL },
  { unit: "marker", holder: false, lines: ["5", "6"] },
  { unit: "limiter", holder: false, lines: ALL },
  { unit: "stalled", holder: false, lines: ALL },
  { unit: "stalled-check", holder: false, lines: ALL },
  { unit: "delay", holder: false, lines: ["3"] },
  { unit: "metrics:completed", holder: false, lines: ALL },
  { unit: "metrics:completed:data", holder: false, lines: ALL },
  { unit: "metrics:failed", holder: false, lines: ALL },
  { unit: "metrics:failed:data", holder: false, lines: ALL },
];

/** How many of the first units hold jobs, `meta` counted. */
export const V1_HOLDERS: number = V1_UNITS.findLastIndex(({ holder }) => holder) + 1;

const NAMES: ReadonlySet<string> = new Set(V1_UNITS.map(({ unit }) => unit));

/** Tells whether a text names a queue-level key of v1. */
export function isV1Unit(text: string): boolean {
  return NAMES.has(text);
}

/** Units that tell a v1 queue that has no `meta`; every v1 queue has one of them. */
export const TELLING_UNITS = [
  "id",
  "wait",
  "delayed",
  "completed",
  "failed",
  "stalled-check",
] as const;

/** Endings of keys that belong to one job beside its hash. */
export const FLOW_SUFFIXES = ["dependencies", "processed", "failed", "unsuccessful"] as const;

/** Reads the line out of `meta version`; null when it says none. */
export function lineOf(version: string | null): V1Line | null {
  const major = /^bullmq:(\d+)\./.exec(version ?? "")?.[1];
  return ALL.find((line) => line === major) ?? null;
}
