import { isEchoMQError, migratingStamp, parseTombstone, tombstone } from "@echomq/wire";
import { commandFor } from "./command-line.js";
import type { Context, Phase } from "./context.js";
import { nothingHere } from "./elsewhere.js";
import { MigrationError, type MigrationReason } from "./errors.js";
import { phaseScript } from "./generated/bundle.js";
import type { Location } from "./locate.js";
import { locate } from "./locate.js";
import { runOf } from "./run-id.js";
import { isSourceRefusal, ownsRun, placeOf, sourceOf, sourceRefusal } from "./source.js";

/** Phases that stand in the stamp. */
export type StampPhase = "fence" | "copy" | "verify" | "verified" | "rollback" | "remove";

/** The stamp of this run in a phase. */
export function ownStamp(ctx: Context, phase: StampPhase): string {
  return migratingStamp(runOf(ctx), phase);
}

/** The tombstone's key and text; in place there is none, the stamp stands there itself. */
export function tombstoneOf(
  ctx: Context,
  state: "moving" | "done",
): { readonly tombs: readonly string[]; readonly text: string } {
  if (ctx.v1.inPlace) return { tombs: [], text: "" };
  return {
    tombs: [ctx.v1.unit("meta")],
    text: tombstone({ run: runOf(ctx), state, q: ctx.q }),
  };
}

/** Sets the stamp from one phase of this run to another. */
export async function changePhase(ctx: Context, from: string, to: StampPhase): Promise<void> {
  if (from === to) return;
  await ctx.dispatcher.run(phaseScript, {
    q: ctx.q,
    args: {
      own: migratingStamp(runOf(ctx), from),
      goal: ownStamp(ctx, to),
      source: ctx.v1.base,
    },
  });
}

/**
 * Finds the run by the stamp and checks that the queue is in a phase from which `phase` may go on.
 * @throws MigrationError `NOT_FENCED`, `ROLLING_BACK`, `INTRUDED`, `FOREIGN` or `OVERTAKEN`.
 */
export async function fencedAt(ctx: Context, phase: string): Promise<Location> {
  const at = await located(ctx, phase);
  if (at.state === "intruded") throw intruded(ctx, phase);
  if (at.state === "done") {
    throw refuse(
      ctx,
      phase,
      "NOT_FENCED",
      "The migration of this queue was already committed.",
      "status",
    );
  }
  if (at.state === "foreign") throw foreign(ctx, phase, at);
  if (at.state === "empty") throw await nothingHere(ctx, phase);
  if (at.state !== "moving") {
    throw refuse(
      ctx,
      phase,
      "NOT_FENCED",
      "The queue is not fenced, so nothing may be moved.",
      "fence",
    );
  }
  adopt(ctx, at, phase);
  refuseEnding(ctx, phase, at);
  if (at.source === null) throw sourceless(ctx, phase);
  return at;
}

/**
 * What was begun to be taken back, or away, can only be finished.
 * @throws MigrationError `ROLLING_BACK`, `NOT_FENCED`.
 */
export function refuseEnding(ctx: Context, phase: string, at: Location): void {
  if (at.phase === "rollback") {
    const say = "A rollback of this run has begun and can only be finished.";
    throw refuse(ctx, phase, "ROLLING_BACK", say, "rollback");
  }
  if (at.phase === "remove") {
    const say = "The queue is being removed from v2, which can only be finished.";
    throw refuse(ctx, phase, "NOT_FENCED", say, "remove --yes");
  }
}

/**
 * Finds where the queue stands, and refuses when its run was started for another v1 queue.
 * @throws MigrationError `OTHER_SOURCE`, `INTRUDED`.
 */
export async function located(ctx: Context, phase: string): Promise<Location> {
  const at = await locate(ctx);
  const keyed = at.state === "moving" || at.state === "done" || at.state === "intruded";
  if (at.other !== null && (keyed || (await standsStill(ctx, at)))) {
    throw sourceRefusal(ctx, phase, at.other);
  }
  if (at.state === "moving" && at.source === null && at.phase !== "remove" && !ownsRun(ctx, at)) {
    throw sourceless(ctx, phase);
  }
  return at;
}

/** Whether the tombstone of a run whose v2 keys are gone still closes its v1 queue. */
async function standsStill(ctx: Context, { other, journal }: Location): Promise<boolean> {
  if (other === null) return false;
  const key = `${other.prefix}:${other.queue}:meta`;
  try {
    const text = await ctx.dispatcher.command(["GET", key], { key }, { repeatable: true });
    return parseTombstone(String(text))?.run === journal?.run;
  } catch (error) {
    if (isEchoMQError(error, "WRONGTYPE")) return false;
    // Who may not look there cannot know that nothing is left of the run.
    if (isEchoMQError(error, "NOPERM")) return true;
    throw error;
  }
}

function sourceless(ctx: Context, phase: string): MigrationError {
  const say =
    "v2:meta of this run no longer names the v1 queue it closed, so nothing may be moved or opened.";
  return refuse(ctx, phase, "INTRUDED", say, phase === "rollback" ? "status" : "rollback");
}

/**
 * Takes over the run a location names.
 * @throws MigrationError `OVERTAKEN` when this context already works for another one.
 */
export function adopt(ctx: Context, at: Location, phase: string): void {
  if (at.run === null) return;
  if (ctx.run !== undefined && ctx.run !== at.run) throw overtaken(ctx, phase, `run ${at.run}`);
  ctx.run = at.run;
}

/** A refusal with the next command. */
export function refuse(
  ctx: Context,
  phase: string,
  reason: MigrationReason,
  message: string,
  next?: string,
  details: Readonly<Record<string, unknown>> = {},
): MigrationError {
  return new MigrationError({
    reason,
    message,
    phase,
    queue: ctx.queue,
    details,
    ...(next === undefined ? {} : { next: commandFor(ctx, next) }),
  });
}

/** The refusal of a process that another one has left behind. */
export function overtaken(ctx: Context, phase: string, found: string): MigrationError {
  const say = `Another process works on this queue (${found}); this one stopped and wrote nothing more.`;
  return refuse(ctx, phase, "OVERTAKEN", say, "status", { found });
}

export function intruded(ctx: Context, phase: string): MigrationError {
  const say =
    "The stamp of this queue, or all its v2 keys, were deleted or overwritten behind the tool's back.";
  return refuse(ctx, phase, "INTRUDED", say, "repair");
}

export function foreign(ctx: Context, phase: string, at: Location): MigrationError {
  const say = "A key of this queue holds what neither EchoMQ nor v1 writes there.";
  return refuse(ctx, phase, "FOREIGN", say, "status", { stamp: at.stamp, v1Meta: at.v1Meta });
}

/**
 * Runs a phase's work and turns what scripts refuse into the reasons of a migration.
 * @throws MigrationError `OVERTAKEN` for `EMQFENCE`, `MEMORY` for `OOM`.
 */
export async function guarded<T>(ctx: Context, phase: Phase, work: () => Promise<T>): Promise<T> {
  ctx.phase = phase;
  try {
    return await work();
  } catch (error) {
    if (isSourceRefusal(error)) throw await sourceFound(ctx, phase, error);
    if (isEchoMQError(error, "EMQFENCE"))
      throw overtaken(ctx, phase, error.message.slice(9).trimEnd());
    if (isEchoMQError(error, "OOM")) {
      const say =
        "The server has no memory left for the copy. What was copied stays; make room and repeat.";
      throw refuse(ctx, phase, "MEMORY", say, phase);
    }
    throw error;
  }
}

/** A script met another source than the one that was looked up before. */
async function sourceFound(ctx: Context, phase: string, error: unknown): Promise<MigrationError> {
  const base = sourceOf(error);
  if (base === null) return sourceless(ctx, phase);
  return sourceRefusal(ctx, phase, placeOf(base, ctx.q, await locate(ctx)));
}
