import { commandFor } from "../command-line.js";
import type { Context } from "../context.js";
import { eraseScript, reopenScript, restoreScript } from "../generated/bundle.js";
import { writeJournal } from "../journal.js";
import type { Location } from "../locate.js";
import { runOf } from "../run-id.js";
import { stateRefused, strandedRun } from "../source.js";
import {
  adopt,
  changePhase,
  foreign,
  guarded,
  intruded,
  located,
  ownStamp,
  refuse,
  tombstoneOf,
} from "../stamps.js";
import { scanKeys } from "../v1/scan.js";
import { V1_HOLDERS } from "../v1/units.js";

/** Options of `rollback`. */
export interface RollbackOptions {
  /** Replace job lists that a v1 client wrote after the fence. Default false: refuse and name them. */
  readonly overwrite?: boolean | undefined;
}

/** Report of `rollback`. */
export interface RollbackReport {
  readonly phase: "rollback";
  readonly queue: string;
  readonly run: string;
  /** v2 keys removed. */
  readonly removed: number;
  /** Queue-level v1 keys put back. */
  readonly restored: number;
  /** Queue-level v1 keys somebody wrote after the fence; what the vault held has replaced its namesakes. */
  readonly intruders: readonly string[];
  readonly next: string;
}

const PHASE = "rollback";

/**
 * Gives the queue back to v1: removes the v2 keys, renames the vault back, the stamp goes last. After
 * a commit only while no v2 client has opened the queue.
 * @throws MigrationError `OPENED`, `PURGED`, `INTRUDER`, `NOT_FENCED`, `OVERTAKEN`, `ABORTED`.
 */
export async function rollback(
  ctx: Context,
  options: RollbackOptions = {},
): Promise<RollbackReport> {
  return guarded(ctx, PHASE, async () => {
    const at = await located(ctx, PHASE);
    if (at.state === "intruded") throw intruded(ctx, PHASE);
    if (strandedRun(ctx, at) !== null) throw intruded(ctx, PHASE);
    if (at.state === "foreign") throw foreign(ctx, PHASE, at);
    if (at.state === "v1" && unfinished(at)) return finished(ctx, at);
    if (at.state !== "moving" && at.state !== "done") {
      throw refuse(ctx, PHASE, "NOT_FENCED", "There is no migration to take back.", "status");
    }
    adopt(ctx, at, PHASE);
    if (at.phase === "remove") {
      throw refuse(ctx, PHASE, "NOT_FENCED", "The queue is being removed from v2.", "remove --yes");
    }
    if (at.state === "done") await reopen(ctx);
    else await changePhase(ctx, at.phase ?? "fence", "rollback");
    await writeJournal(ctx, "rollback");
    const removed = await erase(ctx);
    const restored = await restore(ctx, options.overwrite ?? false);
    await writeJournal(ctx, "rolled-back", { rolledBackAt: new Date().toISOString() });
    return report(ctx, removed, restored, at.live);
  });
}

async function reopen(ctx: Context): Promise<void> {
  const { tombs, text } = tombstoneOf(ctx, "moving");
  try {
    await ctx.dispatcher.run(reopenScript, {
      q: ctx.q,
      tombs,
      args: {
        run: runOf(ctx),
        goal: ownStamp(ctx, "rollback"),
        tombstone: text,
        source: ctx.v1.base,
      },
    });
  } catch (error) {
    const message = stateRefused(error);
    if (message === null) throw error;
    if (message.startsWith("opened ")) {
      const say =
        "A v2 client has opened this queue, so v2 may hold jobs and results that v1 never saw; " +
        "going back would lose them.";
      throw refuse(ctx, PHASE, "OPENED", say, "status");
    }
    if (message.includes("purg")) {
      throw refuse(
        ctx,
        PHASE,
        "PURGED",
        "The v1 keys were purged; there is nothing to go back to.",
        "status",
      );
    }
    throw refuse(ctx, PHASE, "INTRUDER", `The queue was tampered with: ${message}.`, "status");
  }
}

/** Removes every v2 key but `v2:meta`, which goes with the stamp. */
async function erase(ctx: Context): Promise<number> {
  const meta = ctx.v2.unit("meta");
  const own = ownStamp(ctx, "rollback");
  let removed = 0;
  for await (const page of scanKeys(ctx, meta.slice(0, -"meta".length))) {
    const victims = page.filter((key) => key !== meta);
    for (let from = 0; from < victims.length; from += ctx.batch) {
      ctx.check();
      removed += await ctx.dispatcher.run(eraseScript, {
        q: ctx.q,
        victims: victims.slice(from, from + ctx.batch),
        args: { own },
      });
    }
    ctx.progress({ phase: PHASE, part: "v2 keys", done: removed, total: null });
  }
  return removed;
}

async function restore(ctx: Context, overwrite: boolean): Promise<number> {
  try {
    return await ctx.dispatcher.run(restoreScript, {
      q: ctx.q,
      live: ctx.v1.live,
      vault: ctx.v1.vault,
      args: {
        own: ownStamp(ctx, "rollback"),
        source: ctx.v1.base,
        holders: V1_HOLDERS,
        overwrite: overwrite ? 1 : 0,
      },
    });
  } catch (error) {
    const found = stateRefused(error);
    if (found === null) throw error;
    const key = found.replace(/^intruder /, "");
    const say = `A v1 client wrote ${key} after the fence; putting the vault back would replace it.`;
    throw refuse(ctx, PHASE, "INTRUDER", say, "rollback --overwrite", { key });
  }
}

/** The last step was done and its journal was not closed: a crash came between. */
function unfinished(at: Location): boolean {
  return at.journal?.phase === "rollback" && at.other === null;
}

async function finished(ctx: Context, at: Location): Promise<RollbackReport> {
  ctx.run ??= at.journal?.run;
  await writeJournal(ctx, "rolled-back", { rolledBackAt: new Date().toISOString() });
  return report(ctx, 0, 0, []);
}

function report(
  ctx: Context,
  removed: number,
  restored: number,
  intruders: readonly string[],
): RollbackReport {
  const run = runOf(ctx);
  // The run has ended; a later fence begins another.
  ctx.run = undefined;
  return {
    phase: PHASE,
    queue: ctx.queue,
    run,
    removed,
    restored,
    intruders,
    next: commandFor(ctx, "plan"),
  };
}
