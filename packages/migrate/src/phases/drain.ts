import { setTimeout as sleep } from "node:timers/promises";
import { commandFor } from "../command-line.js";
import type { Context } from "../context.js";
import { ACTIVE_RULE } from "../errors.js";
import { nextStep } from "../next-step.js";
import { located, refuse } from "../stamps.js";
import { type V1Client, v1ClientsIfAllowed } from "../v1/workers.js";
import { refuseUnlessV1 } from "../v1-only.js";
import { are, counted } from "../words.js";

/** Options of `drain`. */
export interface DrainOptions {
  /** How long to wait for `active` to become empty, in ms. Default 60 000; 0 looks once. */
  readonly deadlineMs?: number | undefined;
}

/** A job that is still held. */
export interface HeldJob {
  readonly id: string;
  /** ms its lock has left, null when nobody holds it. */
  readonly lockMs: number | null;
}

/** Report of `drain`. */
export interface DrainReport {
  readonly phase: "drain";
  readonly queue: string;
  readonly waitedMs: number;
  /** Jobs that were active at the start. */
  readonly active: number;
  readonly next: string;
}

const LOOK_EVERY_MS = 200;
const SHOWN = 50;

/**
 * Waits until v1's `active` is empty. It never touches v1's locks.
 * @throws MigrationError `ACTIVE` with the ids that hold it up, once the deadline has passed.
 */
export async function drain(ctx: Context, options: DrainOptions = {}): Promise<DrainReport> {
  const started = performance.now();
  const until = started + (options.deadlineMs ?? 60_000);
  const at = await located(ctx, "drain");
  if (at.state !== "moving") await refuseUnlessV1(ctx, "drain", at);
  const first = at.state === "moving" ? 0 : await activeCount(ctx);
  let left = first;
  while (left > 0) {
    ctx.check();
    ctx.progress({ phase: "drain", part: "active", done: Math.max(first - left, 0), total: first });
    if (performance.now() >= until) throw await heldUp(ctx, left);
    await sleep(LOOK_EVERY_MS);
    left = await activeCount(ctx);
  }
  const waitedMs = Math.round(performance.now() - started);
  return {
    phase: "drain",
    queue: ctx.queue,
    waitedMs,
    active: first,
    next: commandFor(ctx, at.state === "moving" ? (nextStep(at) ?? "status") : "fence"),
  };
}

/** The refusal that names what is still active, and by whom it is held. */
export async function heldUp(ctx: Context, count: number, phase = "drain"): Promise<Error> {
  const jobs = await heldJobs(ctx);
  const clients = await v1ClientsIfAllowed(ctx);
  const alone = jobs.filter(({ lockMs }) => lockMs === null).map(({ id }) => id);
  const workers = clients?.filter(({ kind }) => kind === "worker") ?? null;
  // A drain needs its workers; a fence does not go on beside them.
  const connected = phase === "fence" ? (workers?.length ?? 0) : 0;
  const say = [
    `${counted(count, "job")} ${are(count)} still active: ${jobs
      .slice(0, 10)
      .map(({ id }) => id)
      .join(", ")}.`,
    ACTIVE_RULE.replace("jobs", "Jobs"),
    alone.length > 0 && workers?.length === 0
      ? `${alone.length === 1 ? "One has" : "Some have"} no lock and no v1 worker is connected: start one, it takes them back.`
      : "",
    connected > 0
      ? `${counted(connected, "v1 worker")} ${are(connected)} still connected; stop them once nothing is active.`
      : "",
  ];
  return refuse(ctx, phase, "ACTIVE", say.filter((text) => text !== "").join(" "), "drain", {
    reasons: connected > 0 ? ["ACTIVE", "WORKERS_CONNECTED"] : ["ACTIVE"],
    count,
    jobs,
    withoutLock: alone,
    workers: workers?.map(describe) ?? null,
  });
}

/** How many jobs are active on v1. */
export async function activeCount(ctx: Context): Promise<number> {
  const key = ctx.v1.unit("active");
  return Number(await ctx.dispatcher.command(["LLEN", key], { key }, { repeatable: true }));
}

async function heldJobs(ctx: Context): Promise<readonly HeldJob[]> {
  const key = ctx.v1.unit("active");
  const range = ["LRANGE", key, "0", String(SHOWN - 1)];
  const ids = (await ctx.dispatcher.command(
    range,
    { key },
    { repeatable: true },
  )) as readonly string[];
  const ttls = await ctx.dispatcher.readMany(
    ids.map((id) => ["PTTL", ctx.v1.lock(id)]),
    { key },
  );
  return ids.map((id, at) => {
    const ttl = Number(ttls[at]);
    return { id, lockMs: ttl === -2 ? null : ttl };
  });
}

function describe({ address, name, idle }: V1Client): string {
  return `${name === "" ? "unnamed worker" : name} at ${address}, idle ${idle} s`;
}
