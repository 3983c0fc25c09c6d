import type { Context } from "../context.js";
import { pairs } from "../locate.js";
import { scanKeys, scanV1 } from "../v1/scan.js";
import { counted } from "../words.js";
import { dedupPages } from "./dedups.js";
import type { Findings } from "./findings.js";
import { Sample } from "./ids.js";
import { expectedOptions, minutesOf } from "./options.js";
import type { StateCheck } from "./verify-state.js";

/** What the check beside the states came to. */
export interface RestCheck {
  /** Keys of job hashes that stand in no state. */
  readonly orphans: Sample<string>;
  /** How many more members than jobs there are. */
  readonly twice: number;
}

/** Compares options, metrics and deduplication, and looks for what stands on one side only. */
export async function verifyRest(
  ctx: Context,
  findings: Findings,
  states: readonly StateCheck[],
): Promise<RestCheck> {
  await verifyOptions(ctx, findings);
  await verifyDedups(ctx, findings);
  const members = states.reduce((total, { jobs }) => total + jobs, 0);
  let jobs = await countJobs(ctx);
  // SCAN may give a key twice; only then is it worth remembering them all.
  if (jobs > members) jobs = await countJobs(ctx, new Set());
  if (jobs > members)
    findings.differ(
      "job",
      "",
      `v2 holds ${counted(jobs, "hash", "hashes")} for ${counted(members, "member")}`,
    );
  return { orphans: await findOrphans(ctx), twice: Math.max(members - jobs, 0) };
}

async function verifyOptions(ctx: Context, findings: Findings): Promise<void> {
  const key = ctx.v2.unit("meta");
  const found = pairs(
    await ctx.dispatcher.command(["HGETALL", key], { key }, { repeatable: true }),
  );
  for (const [field, value] of await expectedOptions(ctx)) {
    if (found[field] !== value)
      findings.differ("meta", field, `is ${found[field] ?? "absent"} instead of ${value}`);
  }
  for (const metric of ["completed", "failed"] as const) {
    const at = ctx.v2.unit(`metrics:${metric}`);
    const counts = pairs(
      await ctx.dispatcher.command(["HGETALL", at], { key: at }, { repeatable: true }),
    );
    const wanted = await minutesOf(ctx, metric);
    for (const [minute, count] of wanted) {
      if (counts[minute] !== String(count))
        findings.differ(`metrics:${metric}`, String(minute), "differs");
    }
  }
}

async function verifyDedups(ctx: Context, findings: Findings): Promise<void> {
  for await (const page of dedupPages(ctx)) {
    const replies = await ctx.dispatcher.readMany(
      page.flatMap(({ key, id }) => [
        ["GET", key],
        ["HGET", ctx.v2.kind("dedup", id), "job"],
        ["PTTL", key],
        ["PTTL", ctx.v2.kind("dedup", id)],
      ]),
      { key: ctx.v2.stamp },
    );
    page.forEach(({ id }, n) => {
      const [old, now, oldTtl, nowTtl] = replies.slice(n * 4, n * 4 + 4);
      // A key that ran out since the copy has run out on both sides, give or take the moment.
      if (old === null) return;
      if (old !== now) findings.differ("dedup", id, `names job ${now ?? "none"} instead of ${old}`);
      else if (Math.abs(Number(oldTtl) - Number(nowTtl)) > 1_000) {
        findings.differ("dedup", id, `has ${nowTtl} ms left instead of ${oldTtl}`);
      }
    });
  }
}

async function countJobs(ctx: Context, seen?: Set<string>): Promise<number> {
  const base = ctx.v2.unit("meta").replace(/meta$/, "job:");
  let count = 0;
  for await (const keys of scanKeys(ctx, base)) {
    count += keys.length;
    for (const key of seen === undefined ? [] : keys) seen?.add(key);
  }
  return seen?.size ?? count;
}

/** Hashes of v1 without a job on v2. */
async function findOrphans(ctx: Context): Promise<Sample<string>> {
  const orphans = new Sample<string>(1_000);
  for await (const page of scanV1(ctx)) {
    const jobs = page.flatMap((key) => (key.kind === "job" && key.id !== "" ? [key] : []));
    const known = await ctx.dispatcher.readMany(
      // An id v2 refuses cannot be there; its key is read as v1 spells it.
      jobs.map(({ id }) => ["EXISTS", `${ctx.v2.unit("meta").replace(/meta$/, "job:")}${id}`]),
      { key: ctx.v2.stamp },
    );
    jobs.forEach(({ key }, at) => {
      if (known[at] === 0) orphans.add(key);
    });
  }
  return orphans;
}
