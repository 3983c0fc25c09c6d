import { migratingStamp, parseVersion, WIRE_VERSION } from "@echomq/wire";
import { commandFor } from "../command-line.js";
import type { Context } from "../context.js";
import { repairScript } from "../generated/bundle.js";
import type { Location } from "../locate.js";
import { strandedRun } from "../source.js";
import { foreign, guarded, located, refuse, tombstoneOf } from "../stamps.js";

/** Report of `repair`. */
export interface RepairReport {
  readonly phase: "repair";
  readonly queue: string;
  /** The stamp that stands now. */
  readonly stamp: string;
  readonly stampRestored: boolean;
  readonly tombstoneRestored: boolean;
  /** Where a hash that stood in the stamp's place was moved, null when there was none. */
  readonly aside: string | null;
  /** Queue-level v1 keys an intruder wrote. */
  readonly intruders: readonly string[];
  readonly next: string;
}

const PHASE = "repair";

/**
 * Puts back a stamp, and a tombstone, that somebody deleted or wrote over, and lists what an intruder
 * wrote meanwhile.
 * @throws MigrationError `FOREIGN`, `NOTHING`.
 */
export async function repair(ctx: Context): Promise<RepairReport> {
  return guarded(ctx, PHASE, async () => {
    const at = await located(ctx, PHASE);
    const stranded = strandedRun(ctx, at);
    if (stranded !== null) return giveBack(ctx, at, stranded);
    if (at.v2Meta !== "hash") {
      if (at.state === "foreign") throw foreign(ctx, PHASE, at);
      throw refuse(ctx, PHASE, "NOTHING", "There is no v2 queue of this name to repair.", "status");
    }
    const wanted = wantedStamp(ctx, at);
    const run = at.run ?? null;
    if (run !== null) ctx.run = run;
    const missing = run !== null && !ctx.v1.inPlace && at.v1Meta.kind === "none";
    const state = parseVersion(wanted).family === "migrating" ? "moving" : "done";
    const { tombs, text } = missing ? tombstoneOf(ctx, state) : { tombs: [], text: "" };
    const aside = ctx.v1.vaulted(`intruder:${Date.now().toString(36)}`);
    const mended = await ctx.dispatcher.run(repairScript, {
      q: ctx.q,
      asides: [aside],
      tombs,
      args: {
        wanted,
        version: at.version ?? "",
        migrated: at.migrated ?? "",
        tombstone: text,
        source: ctx.v1.base,
      },
    });
    return {
      phase: PHASE,
      queue: ctx.queue,
      stamp: wanted,
      stampRestored: mended % 2 === 1,
      tombstoneRestored: mended >= 2,
      aside: at.stamp.kind === "hash" ? aside : null,
      intruders: at.live,
      next: commandFor(ctx, "status"),
    };
  });
}

/** All v2 keys are gone, cursors included, so a copy cannot go on; a rollback can. */
async function giveBack(ctx: Context, at: Location, run: string): Promise<RepairReport> {
  ctx.run = run;
  const stamp = migratingStamp(run, "rollback");
  const { tombs, text } = tombstoneOf(ctx, "moving");
  await ctx.dispatcher.run(repairScript, {
    q: ctx.q,
    asides: [ctx.v1.vaulted("intruder:0")],
    tombs,
    args: { wanted: stamp, version: "", migrated: "", tombstone: text, source: ctx.v1.base },
  });
  return {
    phase: PHASE,
    queue: ctx.queue,
    stamp,
    stampRestored: true,
    tombstoneRestored: false,
    aside: null,
    intruders: at.live,
    next: commandFor(ctx, "rollback"),
  };
}

/** The stamp as it should stand: as it does, by the version of `v2:meta`, or by the journal. */
function wantedStamp(ctx: Context, at: Location): string {
  if (at.stamp.kind === "string") return at.stamp.text;
  if (at.version !== null) return WIRE_VERSION;
  const phase = at.journal?.run === at.run ? at.journal?.phase : undefined;
  if (at.run === null) throw foreign(ctx, PHASE, at);
  // Without a better word, begin the copy again: it is repeatable.
  const known = phase !== undefined && ["fence", "copy", "verify", "rollback"].includes(phase);
  return migratingStamp(at.run, known ? (phase as string) : "copy");
}
