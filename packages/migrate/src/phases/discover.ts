import { CARRIERS } from "../carry/carriers.js";
import { sizeOf } from "../carry/pages.js";
import { commandFor } from "../command-line.js";
import type { Context } from "../context.js";
import type { MigrationReason } from "../errors.js";
import { type Location, locate } from "../locate.js";
import { lineOf, type V1Line } from "../v1/units.js";
import { type V1Client, v1ClientsIfAllowed } from "../v1/workers.js";

/** A v1 queue that was found. */
export interface DiscoveredQueue {
  readonly queue: string;
  readonly prefix: string;
  /** Name on the v2 wire: v1's own, that of its move, or one like it where v2 refuses v1's. */
  readonly q: string;
  readonly state: "empty" | "v1" | "moving" | "done" | "v2" | "intruded" | "foreign";
  /** `version` of v1's meta, null without one. */
  readonly version: string | null;
  /** Line of v1 that wrote it, null when `version` says none. */
  readonly line: V1Line | null;
  /** What the queue holds that cannot be carried yet. */
  readonly uncarried: readonly Uncarried[];
  /** Members per state. */
  readonly counts: Readonly<Record<string, number>>;
  readonly active: number;
  /** v1 clients connected now, null when the server does not tell. */
  readonly clients: readonly V1Client[] | null;
  /** Unix ms of the oldest job that waits, null when none does. */
  readonly oldest: number | null;
}

/** What stands in a unit that is not carried yet, and the reason with which a plan refuses it. */
export interface Uncarried {
  readonly reason: Extract<MigrationReason, "FLOWS" | "SCHEDULERS" | "LINE">;
  readonly unit: string;
  readonly count: number;
}

/** Report of `discover`. */
export interface DiscoverReport {
  readonly phase: "discover";
  readonly queues: readonly DiscoveredQueue[];
  /** Where keys stand when nothing was found in an empty database; else null. */
  readonly elsewhere: string | null;
  /** The command to run next, null when nothing was found. */
  readonly next: string | null;
}

/** Looks at this queue: version, sizes, clients, oldest job. Read only. */
export async function discover(ctx: Context): Promise<DiscoverReport> {
  return {
    phase: "discover",
    queues: [await describeQueue(ctx)],
    elsewhere: null,
    next: commandFor(ctx, "plan"),
  };
}

/** What one queue holds now. */
export async function describeQueue(ctx: Context): Promise<DiscoveredQueue> {
  const at = await locate(ctx);
  const where = at.state === "moving" && at.other === null ? ctx.v1.vaulted : ctx.v1.unit;
  const counts: Record<string, number> = {};
  for (const carrier of CARRIERS) {
    counts[carrier.state] = await sizeOf(ctx, carrier, where(carrier.state));
  }
  return {
    queue: ctx.queue,
    prefix: ctx.prefix,
    q: ctx.q,
    state: stateOf(ctx, at),
    version: at.v1Meta.kind === "hash" ? at.v1Meta.version : null,
    line: lineOf(at.v1Meta.kind === "hash" ? at.v1Meta.version : null),
    uncarried: await uncarried(ctx, where),
    counts,
    active: await sizeOf(ctx, { type: "list" }, where("active")),
    clients: await v1ClientsIfAllowed(ctx),
    oldest: await oldest(ctx, where),
  };
}

/** A v1 queue beside a v2 queue that it did not become is a v1 queue, whatever its name. */
function stateOf(ctx: Context, at: Location): Location["state"] {
  if (ctx.v1.inPlace || (at.state !== "v2" && at.other === null)) return at.state;
  if (at.v1Meta.kind === "string" || at.v1Meta.kind === "other") return "foreign";
  return at.v1Meta.kind === "hash" || at.live.length > 0 ? "v1" : at.state;
}

const UNCARRIED = [
  ["FLOWS", "waiting-children"],
  ["SCHEDULERS", "repeat"],
  ["LINE", "priority"],
] as const;

async function uncarried(
  ctx: Context,
  where: (unit: string) => string,
): Promise<readonly Uncarried[]> {
  const counts = await ctx.dispatcher.readMany(
    UNCARRIED.map(([, unit]) => ["ZCARD", where(unit)]),
    { key: ctx.v1.base },
  );
  return UNCARRIED.flatMap(([reason, unit], at) => {
    const count = Number(counts[at]);
    return count > 0 ? [{ reason, unit, count }] : [];
  });
}

async function oldest(ctx: Context, where: (unit: string) => string): Promise<number | null> {
  const times: number[] = [];
  for (const unit of ["wait", "paused"]) {
    const key = where(unit);
    const id = await ctx.dispatcher.command(["LINDEX", key, "-1"], { key }, { repeatable: true });
    if (typeof id !== "string" || id.startsWith("0:")) continue;
    const job = ctx.v1.job(id);
    const text = await ctx.dispatcher.command(
      ["HGET", job, "timestamp"],
      { key: job },
      { repeatable: true },
    );
    if (Number(text) > 0) times.push(Number(text));
  }
  return times.length === 0 ? null : Math.min(...times);
}
