import { expect } from "vitest";
import type { Job } from "../../../src/index.js";
import type { Act } from "./acts.js";
import type { ModelJob } from "./jobs.js";
import type { Real } from "./real.js";
import type { World } from "./world.js";

type Of<T extends Act["type"]> = Extract<Act, { type: T }>;

/** What a call answers: its result, or the code of its refusal. */
async function told<T>(work: Promise<T>): Promise<T | string> {
  return work.catch((error: { code?: string }) => {
    if (error.code === undefined || !/^EMQ(STATE|MISSING)$/.test(error.code)) throw error;
    return error.code;
  });
}

function picked(
  world: World,
  pick: number,
): { readonly id: string; readonly job: ModelJob | undefined } {
  const id = world.known[pick % Math.max(world.known.length, 1)] ?? "none";
  return { id, job: world.jobs.get(id) };
}

/** A call on a job that was read; none where the job is gone. */
async function onJob(
  world: World,
  real: Real,
  pick: number,
  call: (job: Job) => Promise<unknown>,
): Promise<{ readonly job: ModelJob; readonly answer: unknown } | undefined> {
  const { id, job } = picked(world, pick);
  const read = await real.queue.getJob(id);
  expect(read?.id, `whether ${id} stands`).toBe(job?.id);
  if (read === null || job === undefined) return undefined;
  return { job, answer: await told(call(read)) };
}

export async function doCancel(world: World, real: Real, { pick }: Of<"cancel">): Promise<void> {
  const { id, job } = picked(world, pick);
  const answer = await told(real.queue.cancel(id));
  if (job === undefined) return expect(answer, `cancel ${id}`).toBe("EMQMISSING");
  if (job.endedAt !== undefined) return expect(answer, `cancel ${id}`).toBe("EMQSTATE");
  expect(answer, `cancel ${id}`).toBe(undefined);
  job.verdict ??= "cancelled";
  if (job.place === "active") return;
  world.leave(id);
  world.tell(id, "w");
  world.lineUpToEnd(job);
}

export async function doRemove(world: World, real: Real, { pick }: Of<"remove">): Promise<void> {
  const { id, job } = picked(world, pick);
  const buried = (await real.client.zscore(real.unit("trash"), id)) === null;
  const answer = await told(real.queue.remove(id));
  if (job?.place === "active") return expect(answer, `remove ${id}`).toBe("EMQSTATE");
  // What has only its keys left is removed once more, unless they are buried meanwhile.
  const gone = buried ? [0] : [0, 1];
  expect(job === undefined ? gone : [1], `remove ${id}`).toContain(answer);
  if (job) world.tell(id, "x");
  world.remove(id);
}

export async function doPromoteJob(
  world: World,
  real: Real,
  { pick }: Of<"promoteJob">,
): Promise<void> {
  const done = await onJob(world, real, pick, (job) => job.promote());
  if (done === undefined) return;
  const delayed = done.job.place === "delayed";
  expect(done.answer, `promote ${done.job.id}`).toBe(delayed ? undefined : "EMQSTATE");
  if (delayed) world.advance(done.job);
}

export async function doPromoteJobs(world: World, real: Real): Promise<void> {
  const ids = [...world.delayed];
  expect(await real.queue.promoteJobs(), "promoted").toBe(ids.length);
  for (const id of ids) world.advance(world.jobs.get(id) as ModelJob);
}

export async function doLog(world: World, real: Real, { pick }: Of<"log">): Promise<void> {
  const done = await onJob(world, real, pick, (job) => job.log("a line"));
  if (done === undefined) return;
  done.job.lines += 1;
  expect(done.answer, `lines of ${done.job.id}`).toBe(done.job.lines);
}

export async function doProgress(
  world: World,
  real: Real,
  { pick }: Of<"progress">,
): Promise<void> {
  const done = await onJob(world, real, pick, (job) => job.updateProgress(pick));
  if (done) expect(done.answer).toBe(undefined);
}

export async function doPriority(world: World, real: Real, act: Of<"priority">): Promise<void> {
  const { priority, lifo } = act;
  const done = await onJob(world, real, act.pick, (job) => job.changePriority({ priority, lifo }));
  if (done === undefined) return;
  const { job, answer } = done;
  const movable = ["waiting", "prioritized", "delayed"].includes(job.place);
  expect(answer, `priority of ${job.id}`).toBe(movable ? undefined : "EMQSTATE");
  if (!movable) return;
  if (job.place !== "delayed") world.leave(job.id);
  job.priority = priority;
  if (job.place === "delayed") return;
  world.tell(job.id, "w");
  world.lineUp(job, lifo ? "front" : "back");
}

export async function doDelay(world: World, real: Real, { pick, ms }: Of<"delay">): Promise<void> {
  // KNOWN: a time to live goes on counting from the delay before.
  if (picked(world, pick).job?.spec.ttl !== undefined) return;
  const done = await onJob(world, real, pick, (job) => job.changeDelay(ms));
  if (done === undefined) return;
  const { job, answer } = done;
  expect(answer, `delay of ${job.id}`).toBe(job.place === "delayed" ? undefined : "EMQSTATE");
  if (job.place !== "delayed") return;
  world.leave(job.id);
  world.tell(job.id, "d");
  world.putOff(job, ms);
  job.delay = ms;
}

export async function doRetry(world: World, real: Real, act: Of<"retry">): Promise<void> {
  const { state, reset } = act;
  const options = { resetAttempts: reset };
  const done = await onJob(world, real, act.pick, (job) => job.retry(state, options));
  if (done === undefined) return;
  const { job, answer } = done;
  expect(answer, `retry of ${job.id}`).toBe(job.place === state ? undefined : "EMQSTATE");
  if (job.place === state) again(world, job, reset);
}

export async function doRetryJobs(world: World, real: Real, act: Of<"retryJobs">): Promise<void> {
  const jobs = world.ended(act.state);
  const options = { state: act.state, resetAttempts: act.reset };
  expect(await real.queue.retryJobs(options), "retried").toBe(jobs.length);
  for (const job of jobs) again(world, job, act.reset);
}

function again(world: World, job: ModelJob, reset: boolean): void {
  Object.assign(job, { endedAt: undefined, reason: undefined, result: undefined });
  if (reset) Object.assign(job, { made: 0, started: 0, stalls: 0 });
  world.tell(job.id, "w");
  world.lineUp(job, "back");
}

export async function doClean(world: World, real: Real, act: Of<"clean">): Promise<void> {
  const before = world.now - act.grace;
  const gone = await real.queue.clean(act.grace, act.limit, act.state);
  const ids = {
    waiting: () => world.line.plain,
    prioritized: () => world.line.ranked,
    delayed: () => world.delayed,
    completed: () => world.ended("completed").map(({ id }) => id),
    failed: () => world.ended("failed").map(({ id }) => id),
    wait: () => world.line.plain,
  }[act.state]();
  const old = ids.filter((id) => {
    const { endedAt, addedAt } = world.jobs.get(id) as ModelJob;
    return (endedAt ?? addedAt) <= before;
  });
  const expected = act.limit === 0 ? old : old.slice(0, act.limit);
  expect(gone, `cleaned of ${act.state}`).toEqual(expected);
  removeAll(world, expected);
}

export async function doDrain(world: World, real: Real, { delayed }: Of<"drain">): Promise<void> {
  const ids = [...world.line.plain, ...world.line.ranked, ...(delayed ? world.delayed : [])];
  expect(await real.queue.drain(delayed), "drained").toBe(ids.length);
  removeAll(world, ids);
}

function removeAll(world: World, ids: readonly string[]): void {
  for (const id of ids) {
    // Some went with the one that kept them back.
    if (world.jobs.has(id)) world.tell(id, "x");
    world.remove(id);
  }
}

export async function doUnlock(world: World, real: Real, { id }: Of<"unlock">): Promise<void> {
  const record = world.record(id);
  const standing = await real.queue.getDeduplicationJobId(id);
  expect(standing, `who stands for ${id}`).toBe(record?.job ?? null);
  const freed = await real.queue.removeDeduplicationKey(id);
  expect(freed, `freed ${id}`).toBe(record === undefined ? 0 : 1);
  if (record) world.handOn(id, record, false);
}

export async function doObliterate(world: World, real: Real): Promise<void> {
  await real.queue.obliterate({ force: true });
  // A throttle goes on behind a job that has ended.
  for (const id of [...world.jobs.keys()]) world.remove(id);
  world.line.clear();
  world.delayed = [];
  world.runs.clear();
  // The events go with it.
  world.told.length = 0;
  world.window = null;
  world.paused = false;
}
