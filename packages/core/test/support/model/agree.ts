import { kindKey } from "@echomq/wire";
import { expect } from "vitest";
import { DEDUPS } from "./acts.js";
import type { ModelJob } from "./jobs.js";
import type { Real } from "./real.js";
import type { World } from "./world.js";

/** Compares every structure with the model. */
export async function agree(world: World, real: Real): Promise<void> {
  const { client } = real;
  const batch = client.pipeline();
  batch.lrange(real.unit("wait"), 0, -1);
  for (const set of ["prioritized", "completed", "failed", "held", "trash"] as const) {
    batch.zrange(real.unit(set), 0, -1);
  }
  for (const set of ["delayed", "active"] as const) {
    batch.zrange(real.unit(set), 0, -1, "WITHSCORES");
  }
  for (const hash of ["owners", "priorities", "verdicts"] as const) batch.hgetall(real.unit(hash));
  for (const id of DEDUPS) batch.hgetall(kindKey(real.q, "dedup", id));
  const replies = ((await batch.exec()) ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
  const lists = replies.slice(0, 8) as string[][];
  const [wait, prioritized, completed, failed, held, trash, delayed, active] = lists as [
    string[],
    string[],
    string[],
    string[],
    string[],
    string[],
    string[],
    string[],
  ];
  const hashes = replies.slice(8) as Record<string, string>[];
  const [owners = {}, priorities = {}, verdicts = {}, ...records] = hashes;

  expect([...wait].reverse(), "waiting, next first").toEqual(world.line.plain);
  expect(prioritized, "prioritized, next first").toEqual(world.line.ranked);
  expect(pairs(delayed), "delayed, next first").toEqual(
    world.delayed.map((id) => [id, world.jobs.get(id)?.due]),
  );
  const runs = [...world.runs.values()];
  expect(
    Object.fromEntries(pairs(active).map(([id, score]) => [id, Math.abs(score)])),
    "deadlines",
  ).toEqual(Object.fromEntries(runs.map(({ id, deadline }) => [id, deadline])));
  expect(owners, "owners").toEqual(
    Object.fromEntries(
      runs.map((run) => {
        return [run.id, `${run.claimedAt}:${run.token}${run.begun ? "!" : ""}`];
      }),
    ),
  );
  for (const [name, ids] of Object.entries({ completed, failed } as const)) {
    expect(ids, `${name}, oldest first`).toEqual(
      world.ended(name as "completed" | "failed").map(({ id }) => id),
    );
  }
  const jobs = [...world.jobs.values()];
  const live = jobs.filter(({ endedAt }) => endedAt === undefined);
  expect(held.sort(), "held").toEqual(idsOf(jobs.filter(({ place }) => place === "held")));
  expect(priorities, "priorities").toEqual(
    Object.fromEntries(
      live.flatMap((job) => (job.priority > 0 ? [[job.id, String(job.priority)]] : [])),
    ),
  );
  expect(Object.keys(verdicts).sort(), "verdicts").toEqual(
    idsOf(jobs.filter(({ verdict }) => verdict !== undefined)),
  );
  expect(
    trash.filter((id) => world.jobs.has(id)),
    "in trash and in a state",
  ).toEqual([]);
  for (const [at, id] of DEDUPS.entries()) {
    const record = world.record(id);
    if (record === undefined) continue;
    const { job, next } = records[at] ?? {};
    expect([job, next], `record of ${id}`).toEqual([record.job, record.next]);
  }
}

function idsOf(jobs: readonly ModelJob[]): string[] {
  return jobs.map(({ id }) => id).sort();
}

/** Members and whole scores. */
function pairs(list: readonly string[]): [string, number][] {
  const out: [string, number][] = [];
  for (let at = 0; at + 1 < list.length; at += 2) {
    out.push([list[at] ?? "", Math.trunc(Number(list[at + 1]))]);
  }
  return out;
}

/** Compares what the getters tell, and asks the doctor. */
export async function agreeInTheEnd(world: World, real: Real): Promise<void> {
  const { queue } = real;
  const jobs = [...world.jobs.values()];
  const count = (place: ModelJob["place"]): number =>
    jobs.filter((job) => job.place === place).length;
  expect(await queue.getJobCounts(), "counts").toEqual({
    waiting: count("waiting"),
    prioritized: count("prioritized"),
    delayed: count("delayed"),
    active: count("active"),
    completed: count("completed"),
    failed: count("failed"),
    "waiting-children": 0,
    held: count("held"),
  });
  expect(await queue.isPaused(), "paused").toBe(world.paused);
  expect(await queue.getGlobalConcurrency(), "concurrency").toBe(world.concurrency);
  expect((await queue.getGlobalRateLimit())?.max ?? null, "rate").toBe(world.rate?.max ?? null);
  const ids = async (list: Promise<readonly { readonly id: string }[]>): Promise<string[]> =>
    (await list).map(({ id }) => id);
  expect(await ids(queue.getWaiting()), "getWaiting").toEqual(world.line.plain);
  expect(await ids(queue.getPrioritized()), "getPrioritized").toEqual(world.line.ranked);
  expect(await ids(queue.getDelayed()), "getDelayed").toEqual(world.delayed);
  expect((await ids(queue.getActive())).sort(), "getActive").toEqual([...world.runs.keys()].sort());
  for (const job of jobs) {
    const read = await queue.getJob(job.id);
    expect(
      {
        state: await queue.getJobState(job.id),
        made: read?.attemptsMade,
        started: read?.attemptsStarted,
        stalls: read?.stalledCounter,
        priority: read?.priority,
        delay: read?.delay,
        result: read?.returnvalue,
        deduplication: read?.deduplicationId,
        lines: (await queue.getJobLogs(job.id)).count,
      },
      `job ${job.id}`,
    ).toEqual({
      state: job.place,
      made: job.made,
      started: job.started,
      stalls: job.stalls,
      priority: job.priority,
      delay: job.delay,
      result: job.result,
      deduplication: job.spec.deduplication?.id,
      lines: job.lines,
    });
    if (job.endedAt !== undefined && job.place === "failed") {
      expect(read?.failedReason, `reason of ${job.id}`).toContain(job.reason ?? "");
    }
  }
  expect(await eventsOf(real), "events of each job").toEqual(byId(world.told));
  await healthy(real);
}

/** What the events tell of each job that moves it; notes and duplicates aside. */
async function eventsOf(real: Real): Promise<Record<string, string>> {
  const entries = await real.client.xrange(real.unit("events"), "-", "+");
  const told = entries.flatMap(([, pairs]) =>
    pairs
      .filter((_, at) => at % 2 === 0)
      .map((text) => ({ id: text.slice(1), code: text[0] ?? "" })),
  );
  return byId(told.filter(({ code }) => "wdacfrsx".includes(code)));
}

function byId(told: World["told"]): Record<string, string> {
  const codes: Record<string, string> = {};
  for (const { id, code } of told) codes[id] = (codes[id] ?? "") + code;
  return codes;
}

export async function healthy(real: Real): Promise<void> {
  const report = await real.queue.doctor();
  // What nobody has swept yet is no fault.
  const findings = report.findings.filter(
    ({ kind }) => kind !== "trash" && kind !== "marker-empty",
  );
  expect(findings, "doctor").toEqual([]);
}
