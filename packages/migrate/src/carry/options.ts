import type { Reply } from "@echomq/scripts";
import type { Context } from "../context.js";
import { optionsScript } from "../generated/bundle.js";
import { pairs } from "../locate.js";

/** Fields of v1's meta that have a field of `v2:meta`. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ["paused", "paused"],
  ["concurrency", "concurrency"],
  ["max", "rate.max"],
  ["duration", "rate.ms"],
  ["opts.maxLenEvents", "events.max"],
]);

const METRICS = ["completed", "failed"] as const;
const MINUTE_MS = 60_000;
const ROWS = 500;

/** What of v1's meta cannot be carried, in words. */
export async function planMeta(ctx: Context, key: string): Promise<readonly string[]> {
  const fields = await hash(ctx, key);
  return Object.keys(fields)
    .filter((field) => field !== "version" && !FIELDS.has(field))
    .map((field) => `meta field ${field} stays with v1, the v2 wire has no place for it`);
}

/** Carries metrics and options out of the vault, the last step of a copy. Repeatable. */
export async function carryOptions(
  ctx: Context,
  own: string,
): Promise<{ options: number; minutes: number }> {
  const fields = await hash(ctx, ctx.v1.vaulted("meta"));
  const rows = Object.entries(fields).flatMap(([name, value]) => {
    const field = FIELDS.get(name);
    return field === undefined ? [] : [{ field, value }];
  });
  const minutes: { metric: string; minute: number; count: number }[] = [];
  for (const metric of METRICS) {
    for (const [minute, count] of await minutesOf(ctx, metric))
      minutes.push({ metric, minute, count });
  }
  const put = async (page: typeof minutes, last: number): Promise<void> => {
    const args = { own, source: ctx.v1.base, last };
    const call = { q: ctx.q, args, rows: last === 1 ? rows : [], minutes: page };
    await ctx.dispatcher.run(optionsScript, call);
  };
  for (let at = 0; at < minutes.length; at += ROWS) await put(minutes.slice(at, at + ROWS), 0);
  await put([], 1);
  return { options: rows.length, minutes: minutes.length };
}

/**
 * v1 keeps a list of counts per minute, newest first, up to the minute before `prevTS`; what came
 * since is `count` minus `prevCount`.
 */
export async function minutesOf(
  ctx: Context,
  metric: string,
): Promise<readonly [number, number][]> {
  const { count, prevTS, prevCount } = await hash(ctx, ctx.v1.vaulted(`metrics:${metric}`));
  const last = Math.floor(Number(prevTS) / MINUTE_MS);
  if (!Number.isSafeInteger(last) || last < 1) return [];
  const key = ctx.v1.vaulted(`metrics:${metric}:data`);
  const list = await ctx.dispatcher.command(
    ["LRANGE", key, "0", "-1"],
    { key },
    { repeatable: true },
  );
  const counts = [Number(count) - Number(prevCount), ...(list as readonly Reply[]).map(Number)];
  return counts
    .map((each, at): [number, number] => [last - at, each])
    .filter(([minute, each]) => Number.isSafeInteger(each) && each > 0 && minute > 0);
}

/** The options as they must stand in `v2:meta`. */
export async function expectedOptions(ctx: Context): Promise<ReadonlyMap<string, string>> {
  const fields = await hash(ctx, ctx.v1.vaulted("meta"));
  return new Map(
    Object.entries(fields).flatMap(([name, value]) => {
      const field = FIELDS.get(name);
      return field === undefined ? [] : [[field, value] as const];
    }),
  );
}

async function hash(ctx: Context, key: string): Promise<Record<string, string>> {
  const type = await ctx.dispatcher.command(["TYPE", key], { key }, { repeatable: true });
  if (type !== "hash") return Object.create(null);
  return pairs(await ctx.dispatcher.command(["HGETALL", key], { key }, { repeatable: true }));
}
