import { CARRIERS } from "../carry/carriers.js";
import { sizeOf } from "../carry/pages.js";
import { type Context, commandFor } from "../context.js";
import { locate } from "../locate.js";
import { type V1Client, v1ClientsIfAllowed } from "../v1/workers.js";

/** A v1 queue that was found. */
export interface DiscoveredQueue {
  readonly queue: string;
  readonly prefix: string;
  readonly state: "empty" | "v1" | "moving" | "done" | "v2" | "intruded" | "foreign";
  /** `version` of v1's meta, null without one. */
  readonly version: string | null;
  /** Members per state. */
  readonly counts: Readonly<Record<string, number>>;
  readonly active: number;
  /** v1 clients connected now, null when the server does not tell. */
  readonly clients: readonly V1Client[] | null;
  /** Unix ms of the oldest job that waits, null when none does. */
  readonly oldest: number | null;
}

/** Report of `discover`. */
export interface DiscoverReport {
  readonly phase: "discover";
  readonly queues: readonly DiscoveredQueue[];
  readonly next: string;
}

/** Looks at this queue: version, sizes, clients, oldest job. Read only. */
export async function discover(ctx: Context): Promise<DiscoverReport> {
  return {
    phase: "discover",
    queues: [await describeQueue(ctx)],
    next: commandFor(ctx, "plan"),
  };
}

/** What one queue holds now. */
export async function describeQueue(ctx: Context): Promise<DiscoveredQueue> {
  const at = await locate(ctx);
  const where = at.state === "moving" ? ctx.v1.vaulted : ctx.v1.unit;
  const counts: Record<string, number> = {};
  for (const carrier of CARRIERS) {
    counts[carrier.state] = await sizeOf(ctx, carrier, where(carrier.state));
  }
  return {
    queue: ctx.queue,
    prefix: ctx.prefix,
    state: at.state,
    version: at.v1Meta.kind === "hash" ? at.v1Meta.version : null,
    counts,
    active: await sizeOf(ctx, { type: "list" }, where("active")),
    clients: await v1ClientsIfAllowed(ctx),
    oldest: await oldest(ctx, where),
  };
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
