import { pageScript } from "@echomq/scripts";
import { jobId } from "@echomq/wire";
import type { LazySession } from "../../connection/lazy.js";
import type { Job } from "../../job/job.js";
import { readJobs } from "../../job/read.js";
import { storedState } from "../../job/stored.js";
import type { JobState } from "../../job/types.js";
import { flag } from "../../options/check.js";
import { checkRange, checkStates, pagesOf, type Range, stateOf } from "./states.js";

/** Most ids of one page. */
const PAGE = 500;

/** Jobs of some states, each state by its own range, one state after the other. */
export async function getJobs(
  lazy: LazySession,
  states: unknown,
  start: unknown,
  end: unknown,
  asc: unknown,
  op: string,
): Promise<Job[]> {
  const names = checkStates(states);
  const range = checkRange(start, end);
  const oldest = flag("asc", asc) ?? false;
  const jobs: Job[] = [];
  const met = new Set<string>();
  for (const state of new Set(names.map(stateOf))) {
    for await (const ids of idPages(lazy, state, range, oldest, op)) {
      // A job that moved while the pages were read may come twice.
      const fresh = ids.filter((id) => !met.has(id));
      for (const id of fresh) met.add(id);
      jobs.push(...(await readJobs(lazy, fresh, op)));
    }
  }
  return jobs;
}

async function* idPages(
  lazy: LazySession,
  state: string,
  range: Range,
  oldest: boolean,
  op: string,
): AsyncGenerator<readonly string[]> {
  const session = await lazy.get(op);
  for (const { start, count } of pagesOf(range, PAGE)) {
    const args = { state, start, count, asc: oldest ? 1 : 0 };
    const ids = (await session.read(pageScript, { q: session.q, args }, op)) ?? [];
    yield ids;
    if (ids.length < count) return;
  }
}

/** Where a job stands; `unknown` when there is none. */
export async function getJobState(lazy: LazySession, id: unknown): Promise<JobState> {
  const op = "Queue.getJobState";
  return storedState(lazy, jobId(id, "id"), op);
}
