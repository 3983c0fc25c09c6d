import { commandFor } from "../command-line.js";
import type { Context } from "../context.js";
import { commitScript } from "../generated/bundle.js";
import { writeJournal } from "../journal.js";
import type { Location } from "../locate.js";
import { runOf } from "../run-id.js";
import { stateRefused } from "../source.js";
import { adopt, fencedAt, guarded, located, ownStamp, refuse, tombstoneOf } from "../stamps.js";
import { type PurgeReport, purge } from "./purge.js";

/** Options of `commit`. */
export interface CommitOptions {
  /** Also remove the vault and the v1 job keys; the tombstone stays. Default false. */
  readonly purgeV1?: boolean | undefined;
}

/** Report of `commit`. */
export interface CommitReport {
  readonly phase: "commit";
  readonly queue: string;
  /** Bare name on the v2 wire, where workers find it. */
  readonly q: string;
  readonly run: string;
  /** True when an earlier call had committed already. */
  readonly already: boolean;
  readonly purged: PurgeReport | null;
  readonly next: string;
}

const PHASE = "commit";

/**
 * Opens the queue for v2 clients: version, stamp and tombstone in one step.
 * @throws MigrationError `NOT_FENCED`, `NOT_VERIFIED`, `OTHER_SOURCE`, `INTRUDER`, `OVERTAKEN`.
 */
export async function commit(ctx: Context, options: CommitOptions = {}): Promise<CommitReport> {
  const already = await guarded(ctx, PHASE, async () => {
    const at = await located(ctx, PHASE);
    if (at.state === "done") return closeJournal(ctx, at);
    await commitFenced(ctx);
    return false;
  });
  const purged = options.purgeV1 === true ? await purge(ctx) : null;
  return {
    phase: PHASE,
    queue: ctx.queue,
    q: ctx.q,
    run: runOf(ctx),
    already,
    purged,
    // Not the purge: the v1 keys are the way back until v2 has shown that it works.
    next: commandFor(ctx, "status"),
  };
}

async function commitFenced(ctx: Context): Promise<void> {
  const at = await fencedAt(ctx, PHASE);
  if (at.phase !== "verified") {
    const next = at.phase === "fence" ? "copy" : "verify";
    throw refuse(ctx, PHASE, "NOT_VERIFIED", "The copy has not been verified.", next);
  }
  const { tombs, text } = tombstoneOf(ctx, "done");
  try {
    await ctx.dispatcher.run(commitScript, {
      q: ctx.q,
      tombs,
      vault: ctx.v1.vault,
      args: {
        own: ownStamp(ctx, "verified"),
        run: runOf(ctx),
        tombstone: text,
        source: ctx.v1.base,
      },
    });
  } catch (error) {
    const found = stateRefused(error);
    if (found === null) throw error;
    // A tombstone that is gone can be put back; one that was replaced, or a lost vault, cannot.
    const next = found.includes("tombstone") && at.v1Meta.kind === "none" ? "repair" : "status";
    throw refuse(ctx, PHASE, "INTRUDER", `The queue was tampered with: ${found}.`, next, { found });
  }
  await writeJournal(ctx, "committed", { committedAt: new Date().toISOString() });
}

/** A commit whose journal was not closed keeps v2 clients out until somebody closes it. */
async function closeJournal(ctx: Context, at: Location): Promise<true> {
  adopt(ctx, at, PHASE);
  await writeJournal(ctx, "committed");
  return true;
}
