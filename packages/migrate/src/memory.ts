import type { Reply } from "@echomq/scripts";
import type { Context } from "./context.js";
import { V1_UNITS } from "./v1/units.js";

/** Memory of the server against what a copy needs. All in bytes. */
export interface MemoryEstimate {
  /** What the copy is expected to take. */
  readonly needed: number;
  readonly used: number;
  /** Limit of the server, 0 for none. */
  readonly limit: number;
  readonly fits: boolean;
  /** What the server does when the limit is reached, e.g. `noeviction`. */
  readonly policy: string;
}

/** Room for the server's own work beside the copy. */
const MARGIN = 1.1;

/** Estimates from a sample of job hashes and the measured size of the sets. */
export async function estimateMemory(
  ctx: Context,
  sample: readonly string[],
  jobs: number,
  where: (unit: string) => string,
): Promise<MemoryEstimate> {
  const info = String(await ctx.dispatcher.command(["INFO", "memory"], {}, { repeatable: true }));
  const field = (name: string): string => new RegExp(`^${name}:(\\S*)`, "m").exec(info)?.[1] ?? "";
  const sizes = await usage(ctx, sample);
  const units = await usage(
    ctx,
    V1_UNITS.filter(({ holder }) => holder).map(({ unit }) => where(unit)),
  );
  const average = sizes.length === 0 ? 0 : sum(sizes) / sizes.length;
  const needed = Math.ceil(average * jobs + sum(units));
  const used = Number(field("used_memory"));
  const limit = Number(field("maxmemory"));
  const fits = limit === 0 || used + needed * MARGIN <= limit;
  return { needed, used, limit, fits, policy: field("maxmemory_policy") };
}

async function usage(ctx: Context, keys: readonly string[]): Promise<number[]> {
  if (keys.length === 0) return [];
  const replies: readonly Reply[] = await ctx.dispatcher.readMany(
    keys.map((key) => ["MEMORY", "USAGE", key]),
    { key: ctx.v1.base },
  );
  return replies.filter((one) => one !== null).map(Number);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
