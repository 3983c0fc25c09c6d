import { CARRIERS } from "../carry/carriers.js";
import { sizeOf } from "../carry/pages.js";
import { commandFor, commandWithoutQueue } from "../command-line.js";
import type { Context } from "../context.js";
import { type Location, locate } from "../locate.js";
import { nextStep, purgeOf } from "../next-step.js";
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
  /** Server ms at which a v2 client first opened the queue. */
  readonly opened: string | null;
  /** How far v1's keys are removed after the commit. */
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
  /** The command to run next; null when nothing is left to do, or nothing before v2 has opened the queue. */
  readonly next: string | null;
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
    purge: purgeOf(at),
    stamp: at.stamp,
    v1Meta: at.v1Meta,
    counts,
    clients: await v1ClientsIfAllowed(ctx),
    intruders: vaulted ? at.live : [],
    journal: at.journal,
    next: nextOf(ctx, at),
  };
}

function nextOf(ctx: Context, at: Location): string | null {
  if (strandedRun(ctx, at) !== null) return commandFor(ctx, "repair");
  if (at.state === "empty") return commandWithoutQueue(ctx.commandLine, "discover");
  const step = nextStep(at);
  return step === null ? null : commandFor(ctx, step);
}
