import type * as fc from "fast-check";
import { type Act, LONG } from "./acts.js";
import { agree, healthy } from "./agree.js";
import { doAdd } from "./do-add.js";
import * as admin from "./do-admin.js";
import { doRenew, doSweep, doTurn } from "./do-work.js";
import type { Real } from "./real.js";
import type { World } from "./world.js";

/** One act as a command: done to the model and to the real queue, then both are compared. */
export class ActCommand implements fc.AsyncCommand<World, Real> {
  readonly act: Act;

  constructor(act: Act) {
    this.act = act;
  }

  check(): boolean {
    return true;
  }

  async run(world: World, real: Real): Promise<void> {
    await play(world, real, this.act);
    await agree(world, real);
  }

  toString(): string {
    return JSON.stringify(this.act);
  }
}

async function play(world: World, real: Real, act: Act): Promise<void> {
  world.now = real.clock.now;
  switch (act.type) {
    case "add":
      return doAdd(world, real, act);
    case "turn":
      return doTurn(world, real, act);
    case "renew":
      return doRenew(world, real, act);
    case "crash":
      return real.crash(act.worker);
    case "stall":
      return stall(world, real, act);
    case "sweep":
      return doSweep(world, real);
    case "promote":
      await real.sweeper.promote();
      return world.promote();
    case "pass":
      return pass(world, real, act.ms);
    case "wrong":
      real.clock.wrong += act.ms;
      return;
    case "doctor":
      return healthy(real);
    case "flush":
      await real.client.script("FLUSH");
      return real.load();
    case "cancel":
      return admin.doCancel(world, real, act);
    case "remove":
      return admin.doRemove(world, real, act);
    case "promoteJob":
      return admin.doPromoteJob(world, real, act);
    case "promoteJobs":
      return admin.doPromoteJobs(world, real);
    case "log":
      return admin.doLog(world, real, act);
    case "progress":
      return admin.doProgress(world, real, act);
    case "priority":
      return admin.doPriority(world, real, act);
    case "delay":
      return admin.doDelay(world, real, act);
    case "retry":
      return admin.doRetry(world, real, act);
    case "retryJobs":
      return admin.doRetryJobs(world, real, act);
    case "clean":
      return admin.doClean(world, real, act);
    case "drain":
      return admin.doDrain(world, real, act);
    case "unlock":
      return admin.doUnlock(world, real, act);
    case "obliterate":
      return admin.doObliterate(world, real);
    default:
      return limit(world, real, act);
  }
}

/** Longer than `LONG`. */
const RENEWED_MS = 80_000_000;

/**
 * One worker stands still for longer than its lease while the others go on: its jobs are put back, and
 * one of them claims what is there. What it wakes up with, and ends, is not its own any more.
 */
async function stall(
  world: World,
  real: Real,
  act: Extract<Act, { type: "stall" }>,
): Promise<void> {
  const held = [...(real.workers[act.worker]?.runs.keys() ?? [])];
  for (const [worker, { runs }] of real.workers.entries()) {
    if (worker === act.worker) continue;
    for (const pick of [...runs.keys()].reverse()) {
      await doRenew(world, real, { type: "renew", worker, pick, ms: RENEWED_MS });
    }
  }
  await pass(world, real, LONG);
  await doSweep(world, real);
  const turn = { type: "turn", lean: act.lean, guess: 2, begun: 4, begin: true } as const;
  await doTurn(world, real, { ...turn, worker: act.other, ends: [], claim: 4 });
  const ends = held.map((pick) => ({ pick, how: act.how, delay: 30_000 }));
  await doTurn(world, real, { ...turn, worker: act.worker, ends, claim: 1 });
}

type Limit = Extract<
  Act,
  { type: "pause" | "resume" | "concurrency" | "maxLength" | "rate" | "hold" }
>;

async function limit(world: World, real: Real, act: Limit): Promise<void> {
  const { queue } = real;
  switch (act.type) {
    case "pause":
      world.paused = true;
      return queue.pause();
    case "resume":
      world.paused = false;
      return queue.resume();
    case "concurrency":
      world.concurrency = act.most;
      return queue.setGlobalConcurrency(act.most);
    case "maxLength":
      world.maxLength = act.most;
      return queue.setMaxLength(act.most);
    case "rate":
      world.rate = act.max === null ? null : { max: act.max, ms: WINDOW_MS };
      return act.max === null
        ? queue.removeGlobalRateLimit()
        : queue.setGlobalRateLimit(act.max, WINDOW_MS);
    case "hold":
      if (act.ms > 0) world.window = { used: Number.POSITIVE_INFINITY, until: world.now + act.ms };
      else if (world.window?.used === Number.POSITIVE_INFINITY) world.window = null;
      return queue.rateLimit(act.ms);
  }
}

/** No multiple of what time passes by, so that no window ends within the time a run really takes. */
const WINDOW_MS = 45_000;
/** Less than this is within that time. */
const AGED_MS = 30_000;

/** Time passes, also for the keys that end by themselves. */
async function pass(world: World, real: Real, ms: number): Promise<void> {
  real.clock.now += ms;
  world.now = real.clock.now;
  if (ms < AGED_MS) return;
  const { client, q } = real;
  const keys = [real.unit("limiter"), ...(await client.keys(`emq:{${q}}:v2:dedup:*`))];
  for (const key of keys) {
    const left = await client.pttl(key);
    if (left < 0) continue;
    if (left > ms) await client.pexpire(key, left - ms);
    else await client.unlink(key);
  }
}
