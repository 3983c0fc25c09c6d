import { type EchoMQError, isEchoMQError, parseVersion } from "@echomq/wire";
import type { Context } from "./context.js";
import { journalScript } from "./generated/bundle.js";
import { runOf } from "./run-id.js";

/** Phases as the journal names them. */
export type JournalPhase =
  | "plan"
  | "drain"
  | "fence"
  | "copy"
  | "verify"
  | "verified"
  | "committed"
  | "rollback"
  | "rolled-back"
  | "remove";

/** How often a journal is taken over in one write before its other writer is left alone. */
const TAKES = 3;

/**
 * Writes the journal of this run. It is a report: the stamp alone decides. So a journal that was already
 * closed by another process of the run is left as it is, one that another run wrote is taken over while
 * the stamp is this run's, and the last word of a run that has ended gives way to a newer run's.
 * @throws WireError `EMQFENCE` when the journal belongs to another run that is under way.
 */
export async function writeJournal(
  ctx: Context,
  phase: JournalPhase,
  fields: Readonly<Record<string, string | number>> = {},
): Promise<void> {
  const rows = Object.entries({
    queue: ctx.queue,
    prefix: ctx.prefix,
    updatedAt: new Date().toISOString(),
    ...fields,
  }).map(([field, value]) => ({ field, value: String(value) }));
  let over = "";
  for (let takes = 0; ; takes++) {
    try {
      const args = { run: runOf(ctx), phase, step: "write", over };
      await ctx.dispatcher.run(journalScript, { q: ctx.q, args, rows });
      return;
    } catch (error) {
      if (isEchoMQError(error, "EMQSTATE")) return;
      if (!isEchoMQError(error, "EMQFENCE") || takes === TAKES) throw error;
      // Named first, and the stamp read after it: a run that took the stamp meanwhile has written its phase.
      if (phase !== "plan" && (await holdsStamp(ctx))) over = otherRun(error);
      else if (phase === "rolled-back") return;
      else throw error;
    }
  }
}

/** Tells whether the stamp is this run's: while it moves, or after its commit. */
async function holdsStamp(ctx: Context): Promise<boolean> {
  const key = ctx.v2.stamp;
  const meta = ctx.v2.unit("meta");
  const [stamp, migrated] = await ctx.dispatcher.readMany(
    [
      ["GET", key],
      ["HGET", meta, "migrated"],
    ],
    { key },
    { op: "migrate journal" },
  );
  const version = parseVersion(String(stamp ?? ""));
  if (version.family === "migrating") return version.run === runOf(ctx);
  return version.family === "echomq" && String(migrated ?? "").split(" ")[0] === runOf(ctx);
}

/** The run and its phase that a refusal of the journal's script names. */
function otherRun(error: EchoMQError): string {
  return /^EMQFENCE run ([\w-]+ [a-z-]*)$/.exec(error.message)?.[1] ?? "";
}

/** Removes the journal of a queue that left the v2 wire. */
export async function forgetJournal(ctx: Context): Promise<void> {
  const args = { run: runOf(ctx), phase: "remove", step: "forget", over: "" };
  await ctx.dispatcher.run(journalScript, { q: ctx.q, args, rows: [] });
}
