import { parseTombstone } from "@echomq/wire";
import type { Context } from "./context.js";
import { nothingHere } from "./elsewhere.js";
import type { Location } from "./locate.js";
import { strandedRun } from "./source.js";
import { foreign, intruded, refuse } from "./stamps.js";

/**
 * Lets a phase go on only where a v1 queue stands that has not begun to move.
 * @throws MigrationError `INTRUDED`, `TARGET_TAKEN`, `FOREIGN`, `NOTHING`.
 */
export async function refuseUnlessV1(ctx: Context, phase: string, at: Location): Promise<void> {
  if (at.state === "intruded") throw intruded(ctx, phase);
  if (at.state === "done") {
    throw refuse(ctx, phase, "TARGET_TAKEN", "This queue was migrated already.", "status");
  }
  if (at.state === "v2") {
    const say = `A v2 queue named ${ctx.q} lives here already.`;
    throw refuse(ctx, phase, "TARGET_TAKEN", say, "status");
  }
  if (at.state === "foreign") {
    const text = at.v1Meta.kind === "string" ? parseTombstone(at.v1Meta.text) : null;
    if (strandedRun(ctx, at) !== null) throw intruded(ctx, phase);
    if (text === null) throw foreign(ctx, phase, at);
    const say = `The v1 queue has moved to ${text.q} (${text.state}).`;
    throw refuse(ctx, phase, "TARGET_TAKEN", say, "status", { tombstone: text });
  }
  if (at.state === "empty") throw await nothingHere(ctx, phase);
}
