import * as fc from "fast-check";
import type { CleanType, Deduplication, Retention } from "../../../src/index.js";
import type { Spec } from "./jobs.js";
import type { How } from "./workers.js";

/** One thing that happens. What it names by number it picks by that number among what there is. */
export type Act =
  | {
      readonly type: "add";
      readonly by: number;
      readonly way: "one" | "tick" | "bulk";
      readonly lost: number;
      readonly rows: readonly Spec[];
    }
  | {
      readonly type: "turn";
      readonly worker: number;
      readonly ends: readonly EndPick[];
      readonly claim: number;
      readonly lean: boolean;
      readonly guess: number;
      readonly begun: number;
      readonly begin: boolean;
    }
  | { readonly type: "renew"; readonly worker: number; readonly pick: number; readonly ms: number }
  | { readonly type: "crash"; readonly worker: number }
  | {
      readonly type: "stall";
      readonly worker: number;
      readonly other: number;
      /** How it ends what it held, once it goes on. */
      readonly how: EndPick["how"];
      readonly lean: boolean;
    }
  | { readonly type: "sweep" }
  | { readonly type: "promote" }
  | { readonly type: "pause" }
  | { readonly type: "resume" }
  | { readonly type: "doctor" }
  | { readonly type: "flush" }
  | { readonly type: "obliterate" }
  | { readonly type: "pass"; readonly ms: number }
  | { readonly type: "wrong"; readonly ms: number }
  | { readonly type: "concurrency" | "maxLength"; readonly most: number | null }
  | { readonly type: "rate"; readonly max: number | null }
  | { readonly type: "hold"; readonly ms: number }
  | PickAct<"cancel">
  | PickAct<"remove">
  | PickAct<"promoteJob">
  | PickAct<"log">
  | PickAct<"progress">
  | { readonly type: "promoteJobs" }
  | {
      readonly type: "priority";
      readonly pick: number;
      readonly priority: number;
      readonly lifo: boolean;
    }
  | { readonly type: "delay"; readonly pick: number; readonly ms: number }
  | {
      readonly type: "retry";
      readonly pick: number;
      readonly state: "completed" | "failed";
      readonly reset: boolean;
    }
  | { readonly type: "retryJobs"; readonly state: "completed" | "failed"; readonly reset: boolean }
  | {
      readonly type: "clean";
      readonly grace: number;
      readonly limit: number;
      readonly state: CleanType;
    }
  | { readonly type: "drain"; readonly delayed: boolean }
  | { readonly type: "unlock"; readonly id: string };

interface PickAct<T extends string> {
  readonly type: T;
  readonly pick: number;
}

export interface EndPick {
  readonly pick: number;
  readonly how: Exclude<How, "doomed">;
  readonly delay: number;
}

/** Keys that the server itself ends are aged with the model's time, up to what a run really takes. */
const ODD = 45_000;
export const DEDUPS = ["d1", "d2"] as const;
const IDS = ["a", "b", "c"] as const;
/** Longer than a lease, so that one step ends all that were not renewed. */
export const LONG = 40_020_000;

const pick = fc.nat({ max: 30 });
const worker = fc.constantFrom(0, 0, 1, 1, 2);
const delay = fc.constantFrom(0, 0, 0, 30_000, 60_000, 3_600_000);
const retention: fc.Arbitrary<Retention> = fc.constantFrom<Retention[]>(false, false, true, 2, {
  count: 3,
  age: 3_600,
});
const deduplication = fc.record(
  {
    id: fc.constantFrom(...DEDUPS),
    ttl: fc.constantFrom(ODD, 3_600_000 + ODD),
    extend: fc.boolean(),
    replace: fc.boolean(),
    keepLastIfActive: fc.boolean(),
  },
  { requiredKeys: ["id"] },
);

/** Mostly absent, so that most jobs are as plain as they are in life. */
function seldom<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

const spec: fc.Arbitrary<Spec> = fc
  .record({
    id: seldom(fc.constantFrom(...IDS)),
    delay,
    priority: fc.constantFrom(0, 0, 0, 0, 0, 1, 2, 2_097_151),
    lifo: fc.boolean(),
    attempts: fc.constantFrom(1, 1, 2, 3),
    backoff: fc.constantFrom(0, 0, 30_000),
    completed: retention,
    failed: retention,
    ttl: seldom(seldom(fc.constantFrom(30_000, 3_600_000))),
    deduplication: seldom(deduplication),
  })
  .map(({ id, ttl, deduplication: lock, ...rest }) => ({
    ...rest,
    ...(id === undefined ? {} : { id }),
    ...(ttl === undefined ? {} : { ttl }),
    ...(lock === undefined ? {} : { deduplication: extendable(lock) }),
  }));

/** Extending needs a time to extend. */
function extendable({ extend, ...lock }: Deduplication): Deduplication {
  return extend === true && lock.ttl !== undefined ? { ...lock, extend } : lock;
}

const how = fc.constantFrom<EndPick["how"][]>(
  "complete",
  "complete",
  "complete",
  "fail",
  "fail",
  "fatal",
  "later",
  "back",
  "release",
);
const end: fc.Arbitrary<EndPick> = fc.record({
  pick,
  how,
  delay: fc.constantFrom(30_000, 3_600_000),
});

const of = <T extends Act["type"], A extends object>(
  type: T,
  rest: {
    [K in keyof A]: fc.Arbitrary<A[K]>;
  },
): fc.Arbitrary<A & { type: T }> =>
  fc.record(rest).map((args) => ({ type, ...args }) as A & { type: T });

const weighted: readonly (readonly [number, fc.Arbitrary<unknown>])[] = [
  [
    24,
    of("add", {
      by: fc.nat({ max: 1 }),
      way: fc.constantFrom("one", "tick", "bulk"),
      lost: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
      rows: fc.array(spec, { minLength: 1, maxLength: 4 }),
    }),
  ],
  [
    40,
    of("turn", {
      worker,
      ends: fc.array(end, { maxLength: 4 }),
      claim: fc.nat({ max: 4 }),
      lean: fc.boolean(),
      guess: fc.nat({ max: 4 }),
      begun: fc.nat({ max: 4 }),
      begin: fc.constantFrom(true, true, true, true, false),
    }),
  ],
  [3, of("renew", { worker, pick, ms: fc.constantFrom(36_000_000, 3_600_000, 80_000_000) })],
  [3, of("crash", { worker })],
  [4, of("stall", { worker, other: worker, how, lean: fc.boolean() })],
  [6, of("sweep", {})],
  [5, of("promote", {})],
  [2, of("pause", {})],
  [4, of("resume", {})],
  [1, of("doctor", {})],
  [1, of("flush", {})],
  [1, of("obliterate", {})],
  [12, of("pass", { ms: fc.constantFrom(1, 1, 3, 30_000, 30_000, 60_000, 3_600_000, LONG) })],
  [1, of("wrong", { ms: fc.constantFrom(-3_600_000, 3_600_000) })],
  [2, of("concurrency", { most: fc.constantFrom(null, null, 1, 3) })],
  [2, of("maxLength", { most: fc.constantFrom(null, null, 2, 6) })],
  [2, of("rate", { max: fc.constantFrom(null, null, 1, 4) })],
  [1, of("hold", { ms: fc.constantFrom(0, ODD) })],
  [6, of("cancel", { pick })],
  [4, of("remove", { pick })],
  [3, of("promoteJob", { pick })],
  [1, of("promoteJobs", {})],
  [3, of("log", { pick })],
  [2, of("progress", { pick })],
  [4, of("priority", { pick, priority: fc.constantFrom(0, 1, 2), lifo: fc.boolean() })],
  [3, of("delay", { pick, ms: fc.constantFrom(0, 30_000, 3_600_000) })],
  [3, of("retry", { pick, state: fc.constantFrom("completed", "failed"), reset: fc.boolean() })],
  [1, of("retryJobs", { state: fc.constantFrom("completed", "failed"), reset: fc.boolean() })],
  [
    2,
    of("clean", {
      grace: fc.constantFrom(0, 30_000),
      limit: fc.constantFrom(0, 1, 2),
      state: fc.constantFrom("completed", "failed", "delayed", "waiting", "prioritized"),
    }),
  ],
  [1, of("drain", { delayed: fc.boolean() })],
  [3, of("unlock", { id: fc.constantFrom(...DEDUPS) })],
];

/** Any act, those most often that move jobs. */
export const anyAct: fc.Arbitrary<Act> = fc.oneof(
  ...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary: arbitrary as fc.Arbitrary<Act> })),
);
