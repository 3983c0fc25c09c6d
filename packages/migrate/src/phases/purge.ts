import { isEchoMQError } from "@echomq/wire";
import { commandFor } from "../command-line.js";
import type { Context } from "../context.js";
import { purgeScript } from "../generated/bundle.js";
import { writeJournal } from "../journal.js";
import { runOf } from "../run-id.js";
import { adopt, guarded, located, refuse } from "../stamps.js";
import { scanV1, type V1Key } from "../v1/scan.js";

/** Report of `purge`. */
export interface PurgeReport {
  readonly phase: "purge";
  readonly queue: string;
  readonly run: string;
  readonly removed: number;
  /** Queue-level v1 keys written after the fence: they are left for a person to look at. */
  readonly left: readonly string[];
  /** What the keys of other v1 queues begin with that would pass for jobs of this one: left alone. */
  readonly others: readonly string[];
  readonly next: string;
}

const PHASE = "purge";

/**
 * Removes the vault and every v1 job key of a committed queue, in batches. There is no way back.
 * @throws MigrationError `NOT_COMMITTED`, `OVERTAKEN`, `ABORTED`.
 */
export async function purge(ctx: Context): Promise<PurgeReport> {
  return guarded(ctx, PHASE, async () => {
    const at = await located(ctx, PHASE);
    if (at.state !== "done") {
      const say =
        "Only a committed migration may purge v1: until then the v1 keys are the only way back.";
      throw refuse(ctx, PHASE, "NOT_COMMITTED", say, "status");
    }
    adopt(ctx, at, PHASE);
    await step(ctx, "start", []);
    let removed = 0;
    const left = new Set<string>();
    for await (const page of scanV1(ctx)) {
      const victims = page.filter(isVictim).map(({ key }) => key);
      for (const { kind, key } of page) if (kind === "unit") left.add(key);
      for (let from = 0; from < victims.length; from += ctx.batch) {
        ctx.check();
        removed += await step(ctx, "batch", victims.slice(from, from + ctx.batch));
      }
      ctx.progress({ phase: PHASE, part: "v1 keys", done: removed, total: null });
    }
    left.delete(ctx.v1.unit("meta"));
    await step(ctx, "done", []);
    await writeJournal(ctx, "committed", { purgedAt: new Date().toISOString(), purged: removed });
    return {
      phase: PHASE,
      queue: ctx.queue,
      run: runOf(ctx),
      removed,
      left: [...left],
      others: (await ctx.others) ?? [],
      next: commandFor(ctx, "status"),
    };
  });
}

function isVictim({ kind }: V1Key): boolean {
  return kind !== "unit" && kind !== "v2" && kind !== "other";
}

async function step(
  ctx: Context,
  name: "start" | "batch" | "done",
  victims: readonly string[],
): Promise<number> {
  try {
    const args = { run: runOf(ctx), step: name, source: ctx.v1.base };
    return await ctx.dispatcher.run(purgeScript, { q: ctx.q, victims, args });
  } catch (error) {
    // Purged already: there is nothing left to forbid.
    if (isEchoMQError(error, "EMQSTATE") && error.message.endsWith(" purged")) return 0;
    throw error;
  }
}
