import { expect } from "vitest";
import type { Act } from "./acts.js";
import { keepOf, type ModelJob } from "./jobs.js";
import { LEASE_MS, type Real, STALL_BUDGET } from "./real.js";
import type { Claimed, End, HeldRun, ModelWorker, Step, Turn } from "./workers.js";
import type { World } from "./world.js";

type TurnAct = Extract<Act, { type: "turn" }>;
let texts = 0;

/** Ends runs and claims. */
export async function doTurn(world: World, real: Real, act: TurnAct): Promise<void> {
  const worker = real.workers[act.worker] as ModelWorker;
  const byHand = act.worker === 2;
  const runs = new Map<HeldRun, End>();
  for (const { pick, how, delay } of act.ends) {
    const run = worker.runs[pick % Math.max(worker.runs.length, 1)];
    if (run === undefined || runs.has(run)) continue;
    texts += 1;
    const end = worker.begun(run) ? how : "release";
    runs.set(run, { run, how: end, text: `text ${texts}`, delay });
  }
  const guess = [...world.line.plain, ...world.line.ranked].slice(0, act.guess);
  const count = byHand ? Math.min(act.claim, 1) : act.claim;
  const { lean, begun, begin } = act;
  const turn = await worker.turn([...runs.values()], count, { lean, guess, begun, begin });
  for (const step of turn.before) applyStep(world, step);
  if (count === 0) return;
  if (byHand) claimByHand(world, turn);
  else claimBare(world, turn, worker, count, act.worker);
  for (const step of turn.after) applyStep(world, step);
}

function claimBare(
  world: World,
  { lean, claimed }: Turn,
  worker: ModelWorker,
  count: number,
  at: number,
): void {
  // The lean step looks at the plain line only; whoever gets less asks again with the other.
  const most = lean ? Math.min(count, world.line.plain.length) : count;
  const runs = world.claim(most, at, LEASE_MS, (n) => claimed[n]?.run.token ?? "");
  expect(
    claimed.map(({ run }) => run.id),
    "what was claimed",
  ).toEqual(runs.map(({ id }) => id));
  for (const [n, run] of runs.entries()) {
    const one = claimed[n] as Claimed;
    const job = world.jobs.get(run.id) as ModelJob;
    run.begun = one.begun;
    const seen = one.doomed || worker.begun(one.run);
    expect(one.doomed, `whether ${run.id} was doomed`).toBe(seen && isDoomed(world, job));
  }
}

function claimByHand(world: World, { claimed }: Turn): void {
  for (;;) {
    const [run] = world.claim(1, 2, LEASE_MS, () => claimed[0]?.run.token ?? "");
    const job = world.job(run?.id);
    if (run === undefined || job === undefined || !isDoomed(world, job)) {
      expect(claimed[0]?.run.id, "what was fetched").toBe(run?.id);
      return;
    }
    applyStep(world, [[{ run, how: "doomed", text: "", delay: 0 }, true]]);
  }
}

function isDoomed(world: World, job: ModelJob): boolean {
  if (job.verdict !== undefined) return true;
  const { ttl } = job.spec;
  return ttl !== undefined && job.started === 0 && world.now > job.due + ttl;
}

/** What becomes of jobs whose runs end in one step. */
function applyStep(world: World, step: Step): void {
  const over: ModelJob[] = [];
  const back: ModelJob[] = [];
  const trim = {
    completed: undefined as ModelJob | undefined,
    failed: undefined as ModelJob | undefined,
  };
  for (const [end, ok] of step) {
    const { run } = end;
    const holds = world.runs.get(run.id)?.token === run.token;
    expect(ok, `whether the end of ${run.id} by ${run.token} was written`).toBe(holds);
    if (!holds) continue;
    const job = world.jobs.get(run.id) as ModelJob;
    world.runs.delete(run.id);
    const fails = end.how === "fail" && job.made + 1 < job.spec.attempts;
    const delays = end.how === "later" || (fails && job.spec.backoff > 0);
    // What must end is not put off.
    if (delays && job.verdict === undefined) world.tell(job.id, "d");
    else if (fails) world.tell(job.id, "r");
    else if (["release", "back", "later"].includes(end.how)) world.tell(job.id, "w");
    if (end.how === "release") back.unshift(job);
    else if (goesOn(job, end) && job.verdict !== undefined) back.unshift(job);
    else if (endOf(world, job, end)) {
      over.push(job);
      if (job.place === "completed" && world.jobs.has(job.id)) trim.completed ??= job;
      if (job.place === "failed" && world.jobs.has(job.id)) trim.failed ??= job;
    }
  }
  for (const job of back) {
    if (job.verdict) world.lineUpToEnd(job);
    else world.lineUp(job, "front");
  }
  for (const job of over) world.release(job);
  if (trim.completed) world.trim("completed", keepOf(trim.completed.spec.completed));
  if (trim.failed) world.trim("failed", keepOf(trim.failed.spec.failed));
}

/** True when the job goes on; its attempt is counted then. */
function goesOn(job: ModelJob, { how, text }: End): boolean {
  const fails = how === "fail" && job.made + 1 < job.spec.attempts;
  if (how !== "later" && how !== "back" && !fails) return false;
  if (job.verdict === undefined) return true;
  job.started += 1;
  if (fails) Object.assign(job, { made: job.made + 1, reason: text });
  return true;
}

/** True when the job is over. */
function endOf(world: World, job: ModelJob, { how, text, delay }: End): boolean {
  const { spec } = job;
  job.started += 1;
  if (how === "later") {
    job.delay = delay;
    world.putOff(job, delay);
    return false;
  }
  if (how === "back") {
    world.lineUp(job, "back");
    return false;
  }
  if (how === "doomed") {
    job.reason = job.verdict === undefined ? "expired" : job.verdict;
    world.end(job, "failed", keepOf(spec.failed));
    return true;
  }
  job.made += 1;
  if (how === "complete") {
    job.result = text;
    world.end(job, "completed", keepOf(spec.completed));
    return true;
  }
  job.reason = text;
  if (how === "fatal" || job.made >= spec.attempts) {
    world.end(job, "failed", keepOf(spec.failed));
    return true;
  }
  if (spec.backoff > 0) {
    job.delay = spec.backoff;
    world.putOff(job, spec.backoff);
  } else {
    world.lineUp(job, "back");
  }
  return false;
}

/** Moves the end of one lease. */
export async function doRenew(
  world: World,
  real: Real,
  act: Extract<Act, { type: "renew" }>,
): Promise<void> {
  const worker = real.workers[act.worker] as ModelWorker;
  const run = worker.runs[act.pick % Math.max(worker.runs.length, 1)];
  if (run === undefined) return;
  const held = world.runs.get(run.id);
  const holds = held?.token === run.token;
  const job = world.job(held?.id);
  const ends = holds && act.worker === 2 && job?.verdict !== undefined;
  const expected = ends ? "ended" : holds ? "renewed" : "lost";
  expect(await worker.renew(run, act.ms), `what became of ${run.id}`).toBe(expected);
  if (!held || !holds) return;
  held.deadline = world.now + act.ms;
  if (!ends || job === undefined) return;
  // It was running, so its attempt counts.
  job.made += 1;
  applyStep(world, [[{ run, how: "doomed", text: "", delay: 0 }, true]]);
}

/** Looks after what others left behind. */
export async function doSweep(world: World, real: Real): Promise<void> {
  const { steady } = real;
  await real.sweeper.sweep();
  if (!steady) return;
  const expired = world.expired;
  const stalled: string[] = [];
  for (const run of [...expired].reverse()) {
    const job = world.jobs.get(run.id) as ModelJob;
    world.runs.delete(run.id);
    if (!run.begun && job.released < 3) {
      job.released += 1;
    } else {
      stalled.push(job.id);
      job.stalls += 1;
      job.started += 1;
      if (job.stalls > STALL_BUDGET) job.verdict ??= "stalled";
    }
    if (job.verdict) world.lineUpToEnd(job);
    else world.lineUp(job, "front");
  }
  for (const id of stalled) world.tell(id, "s");
  world.promote();
}
