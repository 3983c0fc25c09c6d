import { parseTombstone } from "@echomq/wire";
import { planMeta } from "../carry/options.js";
import { type StateSurvey, survey, surveyKeys } from "../carry/survey.js";
import { commandFor } from "../command-line.js";
import type { Context } from "../context.js";
import { type FoundElsewhere, findElsewhere, nextElsewhere, saidElsewhere } from "../elsewhere.js";
import { ACTIVE_RULE, type MigrationReason } from "../errors.js";
import { type Location, locate, READS } from "../locate.js";
import { estimateMemory, type MemoryEstimate } from "../memory.js";
import { nextStep } from "../next-step.js";
import { strandedRun } from "../source.js";
import { lineOf, type V1Line } from "../v1/units.js";
import { counted } from "../words.js";

/** Why the queue cannot be fenced as it is. */
export interface Blocker {
  readonly reason: MigrationReason;
  readonly message: string;
  readonly count: number;
  /** The first of what was found. */
  readonly found: readonly unknown[];
}

/** Report of `plan`. */
export interface PlanReport {
  readonly phase: "plan";
  readonly queue: string;
  readonly prefix: string;
  /** Bare name on the v2 wire. */
  readonly as: string;
  readonly inPlace: boolean;
  /** `version` of v1's meta, null without one. */
  readonly version: string | null;
  /** Line of v1 that wrote it, null when `version` says none. */
  readonly line: V1Line | null;
  /** v1 queues of the same name at other known prefixes or in the other spelling. */
  readonly elsewhere: readonly FoundElsewhere[];
  /** Whether nothing stands in the way. */
  readonly ok: boolean;
  readonly blockers: readonly Blocker[];
  readonly states: readonly StateSurvey[];
  readonly jobs: number;
  readonly dedups: number;
  readonly logs: number;
  readonly memory: MemoryEstimate;
  /** Rough time of the copy and its verification, in seconds. */
  readonly estimatedSeconds: number;
  readonly dangling: Counted<{ state: string; id: string }>;
  /** Job hashes beyond those that stand in a state or are active; their ids come with `verify`. */
  readonly orphans: number;
  readonly twice: Counted<{ id: string; states: readonly string[] }>;
  /** What is rebuilt, rewritten or left, in words. */
  readonly notes: readonly string[];
  readonly next: string;
}

/** How many, and the first of them. */
export interface Counted<T> {
  readonly count: number;
  readonly first: readonly T[];
}

const JOBS_PER_SECOND = 12_000;

/** Says what a move would do and what stands in its way. Writes nothing. */
export async function plan(ctx: Context): Promise<PlanReport> {
  let at = await locate(ctx);
  for (let reads = 1; ; reads++) {
    const [read] = await Promise.allSettled([planAt(ctx, at)]);
    const after = await locate(ctx);
    if (after.state === at.state || reads === READS) {
      if (read.status === "rejected") throw read.reason;
      return read.value;
    }
    // Another process moved the queue while it was read; half of it would be told as missing.
    at = after;
  }
}

async function planAt(ctx: Context, at: Location): Promise<PlanReport> {
  const where = at.state === "moving" && at.other === null ? ctx.v1.vaulted : ctx.v1.unit;
  const found = await survey(ctx, where);
  const keys = await surveyKeys(ctx);
  const jobs = found.states.reduce((total, state) => total + state.jobs, 0);
  const memory = await estimateMemory(ctx, found.keys, jobs, where);
  const [active, parents, repeats, priorities] = (
    await ctx.dispatcher.readMany(
      [
        ["LLEN", where("active")],
        ["ZCARD", where("waiting-children")],
        ["ZCARD", where("repeat")],
        ["ZCARD", where("priority")],
      ],
      { key: ctx.v1.base },
    )
  ).map(Number) as [number, number, number, number];
  const meta = await planMeta(ctx, where("meta"));
  const elsewhere = await findElsewhere(ctx);
  const blockers: Blocker[] = [];
  const block = (
    reason: MigrationReason,
    message: string,
    count: number,
    first: readonly unknown[],
  ): void => {
    if (count > 0) blockers.push({ reason, message, count, found: first });
  };
  block("ACTIVE", ACTIVE_RULE, active, []);
  block("FLOWS", "parents wait for their children; flows are not carried yet", parents, [
    "waiting-children",
  ]);
  block(
    "FLOWS",
    "keys of flows stand beside jobs; flows are not carried yet",
    keys.flows.count,
    keys.flows.first,
  );
  block(
    "FLOWS",
    "jobs belong to a parent; flows are not carried yet",
    found.children.count,
    found.children.first,
  );
  block("SCHEDULERS", "repeating jobs are scheduled; schedulers are not carried yet", repeats, [
    "repeat",
  ]);
  block(
    "LINE",
    "jobs stand in `priority`, a layout of line 3 that is not carried yet",
    priorities,
    ["priority"],
  );
  block("IDS", "ids that the v2 wire refuses", found.badIds.count, found.badIds.first);
  block(
    "SCORES",
    "members whose score is not a time or a priority",
    found.badScores.count,
    found.badScores.first,
  );
  block(
    "MEMORY",
    `the copy needs about ${counted(memory.needed, "byte")} and maxmemory leaves ${Math.max(memory.limit - memory.used, 0)}`,
    memory.fits ? 0 : 1,
    [memory],
  );
  if (at.other !== null && at.state !== "v1") {
    const say =
      "this v2 queue belongs to a move of another v1 queue; a v1 queue of its own needs another name (--as)";
    block("OTHER_SOURCE", say, 1, [at.other]);
  } else if (at.state === "empty") {
    const say = await saidElsewhere(ctx, elsewhere);
    block("NOTHING", `there is no v1 queue of this name at this prefix.${say}`, 1, elsewhere);
  }
  if (at.state === "intruded") block("INTRUDED", "v2 keys stand without their stamp", 1, []);
  const moved = at.v1Meta.kind === "string" ? parseTombstone(at.v1Meta.text) : null;
  if (strandedRun(ctx, at) !== null) {
    block("INTRUDED", "the v2 keys of a move that had begun are gone", 1, []);
  } else if (at.state === "foreign" && moved !== null) {
    block("TARGET_TAKEN", `the v1 queue has moved to ${moved.q} (${moved.state})`, 1, [moved]);
  } else if (at.state === "foreign") {
    block("FOREIGN", "a key holds what neither EchoMQ nor v1 writes", 1, [at.stamp, at.v1Meta]);
  }
  if (at.state === "done")
    block("TARGET_TAKEN", "this queue has moved to the v2 wire already", 1, []);
  if (at.state === "v2")
    block("TARGET_TAKEN", "a v2 queue of this name lives here already", 1, [at.stamp]);
  const version = at.v1Meta.kind === "hash" ? at.v1Meta.version : null;
  return {
    phase: "plan",
    queue: ctx.queue,
    prefix: ctx.prefix,
    as: ctx.q,
    inPlace: ctx.v1.inPlace,
    version,
    line: lineOf(version),
    ok: blockers.length === 0,
    blockers,
    states: found.states,
    jobs,
    dedups: keys.dedups,
    logs: keys.logs,
    memory,
    estimatedSeconds: Math.ceil(jobs / JOBS_PER_SECOND),
    dangling: { count: found.dangling.count, first: found.dangling.first },
    // A job in two states has one hash.
    orphans: Math.max(keys.hashes - (jobs - found.twice.count) - active - parents, 0),
    elsewhere,
    twice: { count: found.twice.count, first: found.twice.first },
    notes: notes(ctx, found.states, keys.schedules.count, version, meta, memory),
    next: nextOf(ctx, at, blockers, elsewhere),
  };
}

function nextOf(
  ctx: Context,
  at: Location,
  blockers: readonly Blocker[],
  elsewhere: readonly FoundElsewhere[],
): string {
  const ending = at.phase === "rollback" || at.phase === "remove";
  if (at.state === "moving" && ending) return commandFor(ctx, nextStep(at) ?? "status");
  if (blockers.length === 0) return commandFor(ctx, "run");
  if (blockers.some(({ reason }) => reason === "OTHER_SOURCE") && at.other !== null) {
    return commandFor({ ...ctx, ...at.other }, "status");
  }
  if (at.state === "empty") return nextElsewhere(ctx, elsewhere);
  if (at.state === "intruded" || strandedRun(ctx, at) !== null) return commandFor(ctx, "repair");
  if (at.state !== "v1" && at.state !== "moving") return commandFor(ctx, "status");
  return commandFor(ctx, blockers.every(({ reason }) => reason === "ACTIVE") ? "drain" : "plan");
}

function notes(
  ctx: Context,
  states: readonly StateSurvey[],
  schedules: number,
  version: string | null,
  meta: readonly string[],
  memory: MemoryEstimate,
): string[] {
  const markers = states.reduce((total, { markers: each }) => total + each, 0);
  const clamped = states.reduce((total, { clamped: each }) => total + each, 0);
  const of = (state: string): number => states.find((each) => each.state === state)?.members ?? 0;
  return [
    "events, marker, stalled, limiter and locks are rebuilt, not carried",
    ...(of("delayed") > 0 ? [`delayed: ${counted(of("delayed"), "score")} divided by 4096`] : []),
    ...(of("prioritized") > 0
      ? [`prioritized: ${counted(of("prioritized"), "score")} counted anew, same order`]
      : []),
    ...(of("paused") > 0 ? ["paused: its jobs go to wait, at the head"] : []),
    ...(markers > 0 ? [`wait: ${counted(markers, "marker")} of older lines left out`] : []),
    ...(clamped > 0
      ? [`prioritized: ${counted(clamped, "priority", "priorities")} clamped to 1..2097151`]
      : []),
    ...(schedules > 0
      ? [
          `${counted(schedules, "record")} of former schedules ${schedules === 1 ? "stays" : "stay"} with v1`,
        ]
      : []),
    ...(lineOf(version) === null
      ? ["v1's meta names no version; the layout of line 5 is assumed"]
      : []),
    ...(memory.limit > 0 && memory.policy !== "noeviction"
      ? [`maxmemory-policy is ${memory.policy}: the server may evict jobs at any time`]
      : []),
    ...meta,
    ...(ctx.v1.inPlace ? ["the v1 keys stand where the v2 keys go: the queue moves in place"] : []),
  ];
}
