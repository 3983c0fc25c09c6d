import { CARRIERS } from "../carry/carriers.js";
import { sizeOf } from "../carry/pages.js";
import { commandFor } from "../command-line.js";
import type { Context } from "../context.js";
import { type Location, locate } from "../locate.js";
import { strandedRun } from "../source.js";
import { v1Keys } from "../v1/keys.js";
import { type V1Client, v1ClientsIfAllowed } from "../v1/workers.js";

/** Report of `status`. */
export interface StatusReport {
  readonly phase: "status";
  readonly queue: string;
  readonly prefix: string;
  /** True when the run was started for this queue and prefix, and another was asked for. */
  readonly followed: boolean;
  readonly q: string;
  readonly state: Location["state"];
  readonly run: string | null;
  /** Phase in the stamp, or of the journal when the stamp names none. */
  readonly at: string | null;
  readonly opened: string | null;
  readonly purge: "none" | "begun" | "done";
  readonly stamp: Location["stamp"];
  readonly v1Meta: Location["v1Meta"];
  /** Members per state: on v1 (in place or in the vault) and on v2. */
  readonly counts: Readonly<Record<string, { readonly v1: number; readonly v2: number }>>;
  /** v1 clients connected now, null when the server does not tell. */
  readonly clients: readonly V1Client[] | null;
  /** Queue-level v1 keys written after the fence. */
  readonly intruders: readonly string[];
  readonly journal: Readonly<Record<string, string>> | null;
  readonly next: string;
}

/**
 * Shows where the queue stands, with its journal. Writes nothing. Who does not know the v1 prefix of a
 * run is shown the run's own, with the command that goes on there.
 */
export async function status(ctx: Context): Promise<StatusReport> {
  const at = await locate(ctx);
  if (at.other === null || at.state === "v1") return statusAt(ctx, at, false);
  const { queue, prefix } = at.other;
  const own = { ...ctx, queue, prefix, v1: v1Keys(prefix, queue, ctx.q) };
  return statusAt(own, await locate(own), true);
}

async function statusAt(ctx: Context, at: Location, followed: boolean): Promise<StatusReport> {
  const vaulted = at.state === "moving" || at.vaulted.length > 0;
  const counts: Record<string, { v1: number; v2: number }> = {};
  for (const carrier of CARRIERS) {
    const { state, unit } = carrier;
    const v1 = vaulted ? ctx.v1.vaulted(state) : ctx.v1.unit(state);
    const v2 =
      at.v2Meta === "none" || state === "paused"
        ? 0
        : await sizeOf(ctx, carrier, ctx.v2.unit(unit));
    counts[state] = { v1: await sizeOf(ctx, carrier, v1), v2 };
  }
  return {
    phase: "status",
    queue: ctx.queue,
    prefix: ctx.prefix,
    followed,
    q: ctx.q,
    state: at.state,
    run: at.run,
    at: at.phase ?? at.journal?.phase ?? null,
    opened: at.opened,
    purge: at.migrated?.endsWith(" purged")
      ? "done"
      : at.migrated?.endsWith(" purging")
        ? "begun"
        : "none",
    stamp: at.stamp,
    v1Meta: at.v1Meta,
    counts,
    clients: await v1ClientsIfAllowed(ctx),
    intruders: vaulted ? at.live : [],
    journal: at.journal,
    next: commandFor(ctx, strandedRun(ctx, at) === null ? nextStep(at) : "repair"),
  };
}

const AFTER: Readonly<Record<string, string>> = {
  fence: "copy",
  copy: "copy",
  verify: "verify",
  verified: "commit",
  rollback: "rollback",
  remove: "remove --yes",
};

function nextStep(at: Location): string {
  switch (at.state) {
    case "v1":
      return at.journal?.phase === "rollback" ? "rollback" : "plan";
    case "moving":
      return AFTER[at.phase ?? ""] ?? "status";
    case "done":
      return at.journal?.phase === "committed" || at.journal === null
        ? "commit --purge-v1"
        : "commit";
    case "intruded":
      return "repair";
    default:
      return "discover";
  }
}
