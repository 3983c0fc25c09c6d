import { phaseUnderWay } from "@echomq/wire";
import { commandFor } from "../command-line.js";
import type { Context } from "../context.js";
import { ACTIVE_RULE } from "../errors.js";
import { fenceScript } from "../generated/bundle.js";
import { forgetJournal, writeJournal } from "../journal.js";
import type { Location } from "../locate.js";
import { runOf } from "../run-id.js";
import { stateRefused } from "../source.js";
import { adopt, guarded, located, ownStamp, refuse, refuseEnding, tombstoneOf } from "../stamps.js";
import { type V1Client, v1ClientsIfAllowed } from "../v1/workers.js";
import { refuseUnlessV1 } from "../v1-only.js";
import { are, counted } from "../words.js";
import { activeCount, heldUp } from "./drain.js";
import { type PlanReport, plan } from "./plan.js";

/** Options of `fence`. */
export interface FenceOptions {
  /** Go on although v1 workers are connected: the server refuses them from here on. Default false. */
  readonly allowConnected?: boolean | undefined;
  /** A plan made just now, so it is not made again. */
  readonly plan?: PlanReport | undefined;
}

/** Report of `fence`. */
export interface FenceReport {
  readonly phase: "fence";
  readonly queue: string;
  readonly run: string;
  /** True when an earlier call had fenced the queue already. */
  readonly already: boolean;
  /** Queue-level v1 keys moved into the vault. */
  readonly moved: number;
  readonly vault: string;
  /** Key of the tombstone, null in place. */
  readonly tombstone: string | null;
  readonly next: string;
}

const PHASE = "fence";

/**
 * Closes the v1 queue for every client: vault, tombstone and stamp in one step.
 * @throws MigrationError `ACTIVE`, `WORKERS_CONNECTED`, `OTHER_SOURCE`, `NOTHING`, a blocker of the plan,
 * `OVERTAKEN`.
 */
export async function fence(ctx: Context, options: FenceOptions = {}): Promise<FenceReport> {
  const at = await located(ctx, PHASE);
  if (at.state === "moving") return alreadyFenced(ctx, at);
  await refuseUnlessV1(ctx, PHASE, at);
  // Said first: who is told to stop a worker that runs a job would lose the only one to finish it.
  const active = await activeCount(ctx);
  if (active > 0) throw await heldUp(ctx, active, PHASE);
  await checkWorkers(ctx, options.allowConnected ?? false);
  const planned = options.plan ?? (await plan(ctx));
  const [blocker] = planned.blockers;
  if (blocker?.reason === "ACTIVE") throw await heldUp(ctx, blocker.count, PHASE);
  if (blocker !== undefined) {
    const say = `The queue cannot move: ${blocker.message} (${blocker.count}).`;
    throw refuse(ctx, PHASE, blocker.reason, say, "plan", { blockers: planned.blockers });
  }
  const named = ctx.run;
  try {
    return await guarded(ctx, PHASE, () => begin(ctx, at, planned));
  } catch (error) {
    // The run has not begun, or its stamp tells it: the next call finds the one that stands.
    ctx.run = named;
    throw error;
  }
}

async function begin(ctx: Context, at: Location, planned: PlanReport): Promise<FenceReport> {
  const begun = {
    startedAt: new Date().toISOString(),
    q: ctx.q,
    version: planned.version ?? "",
    jobs: planned.jobs,
    plan: JSON.stringify({ states: planned.states, notes: planned.notes }),
  };
  await settleJournal(ctx, at);
  await writeJournal(ctx, "plan", begun);
  const moved = await runFence(ctx);
  // Said again: another run that came to the fence too late may have begun its report meanwhile.
  await writeJournal(ctx, "fence", { ...begun, moved });
  return report(ctx, false, moved);
}

/** A journal without its stamp is what a crash, or somebody's hand, left of an earlier run. */
async function settleJournal(ctx: Context, at: Location): Promise<void> {
  const { run, phase } = at.journal ?? {};
  if (run === undefined || phase === undefined || !phaseUnderWay(phase)) return;
  const earlier = { ...ctx, run };
  if (phase === "rollback") await writeJournal(earlier, "rolled-back");
  else await forgetJournal(earlier);
}

async function runFence(ctx: Context): Promise<number> {
  const { text } = tombstoneOf(ctx, "moving");
  try {
    return await ctx.dispatcher.run(fenceScript, {
      q: ctx.q,
      live: ctx.v1.live,
      vault: ctx.v1.vault,
      args: {
        own: ownStamp(ctx, "fence"),
        run: runOf(ctx),
        tombstone: text,
        source: ctx.v1.base,
      },
    });
  } catch (error) {
    const found = stateRefused(error);
    if (found === null) throw error;
    throw await refusal(ctx, found);
  }
}

async function refusal(ctx: Context, detail: string): Promise<Error> {
  const [what = "", count = ""] = detail.split(" ");
  switch (what) {
    case "active":
      return heldUp(ctx, Number(count) || 1, PHASE);
    case "waiting-children":
      return refuse(ctx, PHASE, "FLOWS", `Parents wait for their children: ${count}.`, "plan");
    case "repeat":
      return refuse(ctx, PHASE, "SCHEDULERS", `Repeating jobs are scheduled: ${count}.`, "plan");
    case "vault":
      return refuse(
        ctx,
        PHASE,
        "VAULT",
        "The vault of an earlier run still holds keys.",
        "status",
        {
          vault: ctx.v1.vaulted("*"),
        },
      );
    default:
      return refuse(ctx, PHASE, "NOTHING", `There is nothing to move: ${detail}.`, "discover");
  }
}

/** A fence that stood already: the journal is mended when a crash came before it was written. */
async function alreadyFenced(ctx: Context, at: Location): Promise<FenceReport> {
  adopt(ctx, at, PHASE);
  refuseEnding(ctx, PHASE, at);
  await guarded(ctx, PHASE, () => writeJournal(ctx, "fence", { moved: at.vaulted.length }));
  return report(ctx, true, at.vaulted.length);
}

function report(ctx: Context, already: boolean, moved: number): FenceReport {
  return {
    phase: PHASE,
    queue: ctx.queue,
    run: runOf(ctx),
    already,
    moved,
    vault: ctx.v1.vaulted("*"),
    tombstone: ctx.v1.inPlace ? null : ctx.v1.unit("meta"),
    next: commandFor(ctx, "copy"),
  };
}

async function checkWorkers(ctx: Context, allowed: boolean): Promise<void> {
  if (allowed) return;
  const clients = await v1ClientsIfAllowed(ctx);
  if (clients === null) {
    const say =
      "The server does not let this client see who is connected (CLIENT LIST). " +
      "Make sure that no v1 worker runs, then give --allow-connected.";
    throw refuse(ctx, PHASE, "WORKERS_CONNECTED", say, "fence --allow-connected");
  }
  const workers = clients.filter(({ kind }) => kind === "worker");
  if (workers.length === 0) return;
  const named = workers.slice(0, 10).map(({ name, address }: V1Client) => name || address);
  const say =
    `${counted(workers.length, "v1 worker")} ${are(workers.length)} still connected (${named.join(", ")}). ` +
    `Stop ${workers.length === 1 ? "it" : "them"} first: ${ACTIVE_RULE}`;
  throw refuse(ctx, PHASE, "WORKERS_CONNECTED", say, "fence", {
    reasons: ["WORKERS_CONNECTED"],
    workers,
  });
}
