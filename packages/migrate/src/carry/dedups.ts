import type { Context } from "../context.js";
import { dedupScript } from "../generated/bundle.js";
import { refuse } from "../stamps.js";
import { scanV1, type V1Key } from "../v1/scan.js";
import { idFaultOf } from "./ids.js";

type Dedup = V1Key & { readonly kind: "dedup" };

/** Pages of the deduplication keys of the v1 queue. */
export async function* dedupPages(ctx: Context): AsyncGenerator<readonly Dedup[]> {
  for await (const page of scanV1(ctx)) {
    const dedups = page.filter((key): key is Dedup => key.kind === "dedup");
    for (let at = 0; at < dedups.length; at += ctx.batch) yield dedups.slice(at, at + ctx.batch);
  }
}

/**
 * Carries every deduplication key with the time it has left. Repeatable.
 * @throws MigrationError `IDS` for an id the v2 wire refuses.
 */
export async function carryDedups(ctx: Context, own: string): Promise<number> {
  let carried = 0;
  for await (const page of dedupPages(ctx)) {
    for (const { id } of page) {
      const why = idFaultOf(ctx, id, "deduplicationId");
      if (why !== null) throw refuse(ctx, "copy", "IDS", `${why}.`, "rollback", { id });
    }
    const statuses = await ctx.dispatcher.run(dedupScript, {
      q: ctx.q,
      sources: page.map(({ key }) => key),
      records: page.map(({ id }) => id),
      args: { own, source: ctx.v1.base },
    });
    carried += statuses.filter((status) => status === "ok").length;
  }
  return carried;
}
