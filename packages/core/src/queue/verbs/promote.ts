import { advanceScript, countsScript } from "@echomq/scripts";
import { errorFromReply } from "@echomq/wire";
import type { LazySession } from "../../connection/lazy.js";
import { record, whole } from "../../options/check.js";

/** Most jobs of one step. */
const PAGE = 500;

/** How delayed jobs are promoted. */
export interface PromoteJobsOptions {
  /** Most jobs of one step; all are promoted, step by step. Default and at most 500 a step. */
  readonly count?: number | undefined;
}

/** Moves one delayed job into line now. */
export async function promoteJob(lazy: LazySession, id: string): Promise<void> {
  const op = "Job.promote";
  const session = await lazy.get(op);
  const call = { q: session.q, jobs: [id], args: { limit: 0 } };
  let twice = false;
  const { statuses } = await session.write(advanceScript, call, op, () => {
    twice = true;
  });
  const [status = ""] = statuses;
  // Sent twice, it may find what it has done itself: the job is in line.
  if (status !== "ok" && !(twice && status.startsWith("EMQSTATE"))) {
    throw errorFromReply(status, { op, queue: session.q, jobId: id });
  }
}

/** Moves all delayed jobs into line, the next due first, and tells how many. */
export async function promoteJobs(lazy: LazySession, options: unknown): Promise<number> {
  const op = "Queue.promoteJobs";
  const given = record("options", options === undefined ? {} : options, ["count"]);
  const count = Math.min(whole("options.count", given.count, 1, 1_000_000) ?? PAGE, PAGE);
  const session = await lazy.get(op);
  const counts = await session.read(countsScript, { q: session.q, args: {} }, op);
  // Those that are delayed meanwhile, such as by a retry, keep their delay.
  const most = counts?.delayed ?? 0;
  let moved = 0;
  while (moved < most) {
    const limit = Math.min(count, most - moved);
    const call = { q: session.q, jobs: [], args: { limit } };
    const page = (await session.write(advanceScript, call, op)).moved;
    moved += page;
    if (page < limit) break;
  }
  return moved;
}
