import { isEchoMQError } from "@echomq/wire";
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

/**
 * Writes the journal of this run. It is a report: the stamp alone decides, so a journal that was
 * already closed by another process of the run is left as it is.
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
  try {
    await ctx.dispatcher.run(journalScript, {
      q: ctx.q,
      args: { run: runOf(ctx), phase, step: "write" },
      rows,
    });
  } catch (error) {
    if (!isEchoMQError(error, "EMQSTATE")) throw error;
  }
}

/** Removes the journal of a queue that left the v2 wire. */
export async function forgetJournal(ctx: Context): Promise<void> {
  const args = { run: runOf(ctx), phase: "remove", step: "forget" };
  await ctx.dispatcher.run(journalScript, { q: ctx.q, args, rows: [] });
}
