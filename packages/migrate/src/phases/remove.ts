import { isEchoMQError } from "@echomq/wire";
import { commandFor } from "../command-line.js";
import type { Context } from "../context.js";
import { eraseScript, retireScript } from "../generated/bundle.js";
import { forgetJournal, writeJournal } from "../journal.js";
import { newRun } from "../run-id.js";
import { foreign, guarded, intruded, located, ownStamp, refuse } from "../stamps.js";
import { scanKeys } from "../v1/scan.js";

/** Options of `remove`. */
export interface RemoveOptions {
  /** Really remove; without it the keys are only counted. */
  readonly yes?: boolean | undefined;
}

/** Report of `remove`. */
export interface RemoveReport {
  readonly phase: "remove";
  readonly queue: string;
  readonly q: string;
  readonly keys: number;
  /** The first keys, in no order. */
  readonly first: readonly string[];
  readonly removed: number;
  /** Tombstone at the v1 prefix: it stays and keeps v1 clients out until somebody deletes it. */
  readonly tombstone: string | null;
  readonly next: string;
}

const PHASE = "remove";
const SHOWN = 50;

/**
 * Lists, or with `yes` deletes, every v2 key of the queue, its stamp and its journal. v1 keys and a
 * tombstone stay.
 * @throws MigrationError `NOTHING`, `ACTIVE`, `OVERTAKEN`, `ABORTED`.
 */
export async function remove(ctx: Context, options: RemoveOptions = {}): Promise<RemoveReport> {
  return guarded(ctx, PHASE, async () => {
    const at = await located(ctx, PHASE);
    if (at.state === "intruded") throw intruded(ctx, PHASE);
    if (at.state === "foreign") throw foreign(ctx, PHASE, at);
    const removing = at.state === "moving" && at.phase === "remove";
    if (at.state === "moving" && !removing) {
      const say = "A migration of this queue is under way; finish it or roll it back first.";
      throw refuse(ctx, PHASE, "OVERTAKEN", say, "status");
    }
    if (at.state !== "done" && at.state !== "v2" && !removing) {
      throw refuse(ctx, PHASE, "NOTHING", "There is no v2 queue of this name.", "status");
    }
    const found = await count(ctx);
    const tombstone = !ctx.v1.inPlace && at.v1Meta.kind === "string" ? ctx.v1.unit("meta") : null;
    const report = { phase: PHASE, queue: ctx.queue, q: ctx.q, tombstone, ...found } as const;
    if (options.yes !== true) {
      return { ...report, removed: 0, next: commandFor(ctx, "remove --yes") };
    }
    ctx.run = removing && at.run !== null ? at.run : newRun();
    await retire(ctx, "close");
    await writeJournal(ctx, "remove");
    const removed = await eraseAll(ctx);
    // The journal goes before the stamp: a crash in between still finds the stamp and goes on.
    await forgetJournal(ctx);
    await retire(ctx, "end");
    return { ...report, removed: removed + 2, next: commandFor(ctx, "status") };
  });
}

async function retire(ctx: Context, step: "close" | "end"): Promise<void> {
  try {
    await ctx.dispatcher.run(retireScript, {
      q: ctx.q,
      args: { own: ownStamp(ctx, "remove"), step },
    });
  } catch (error) {
    if (!isEchoMQError(error, "EMQSTATE")) throw error;
    const say = "Jobs of this queue are running on v2; stop its workers first.";
    throw refuse(ctx, PHASE, "ACTIVE", say, "remove --yes");
  }
}

async function count(ctx: Context): Promise<{ keys: number; first: readonly string[] }> {
  const first: string[] = [];
  let keys = 0;
  for await (const page of scanKeys(ctx, ctx.v2.unit("meta").slice(0, -"meta".length))) {
    keys += page.length;
    first.push(...page.slice(0, SHOWN - first.length));
  }
  return { keys: keys + 1, first };
}

async function eraseAll(ctx: Context): Promise<number> {
  const meta = ctx.v2.unit("meta");
  const own = ownStamp(ctx, "remove");
  let removed = 0;
  for await (const page of scanKeys(ctx, meta.slice(0, -"meta".length))) {
    const victims = page.filter((key) => key !== meta);
    for (let from = 0; from < victims.length; from += ctx.batch) {
      ctx.check();
      const batch = victims.slice(from, from + ctx.batch);
      removed += await ctx.dispatcher.run(eraseScript, { q: ctx.q, victims: batch, args: { own } });
    }
    ctx.progress({ phase: PHASE, part: "v2 keys", done: removed, total: null });
  }
  return removed;
}
