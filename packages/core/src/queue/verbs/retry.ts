import { endedScript, retryScript } from "@echomq/scripts";
import { errorFromReply } from "@echomq/wire";
import type { LazySession } from "../../connection/lazy.js";
import type { Neighbour } from "../../connection/neighbour.js";
import type { Session } from "../../connection/session.js";
import { isJobId } from "../../ids/is-job-id.js";
import { flag, record, refuse, shown, whole } from "../../options/check.js";

/** States jobs are retried from. */
export type RetryState = "failed" | "completed";

/** How one job is retried. */
export interface RetryOptions {
  /** Its attempts and stalls count from 0 again. Default false. */
  readonly resetAttempts?: boolean | undefined;
}

/** Which jobs are retried, and how. */
export interface RetryJobsOptions extends RetryOptions {
  /** Where they stand. Default failed. */
  readonly state?: RetryState | undefined;
  /** Only jobs that ended by then, in server ms. Default now. */
  readonly timestamp?: number | undefined;
  /** Most jobs of one step; all are retried, step by step. Default and at most 100 a step. */
  readonly count?: number | undefined;
}

const PAGE = 100;
const ALL = Number.MAX_SAFE_INTEGER;

function checkState(option: string, value: unknown): RetryState {
  if (value === undefined || value === "failed" || value === "completed") return value ?? "failed";
  return refuse(option, `must be failed or completed, got ${shown(value)}`);
}

/** Puts one ended job back in line. */
export async function retryJob(
  lazy: LazySession,
  id: string,
  state: unknown,
  options: unknown,
): Promise<void> {
  const op = "Job.retry";
  const from = checkState("state", state);
  const given = record("options", options === undefined ? {} : options, ["resetAttempts"]);
  const reset = flag("options.resetAttempts", given.resetAttempts) ?? false;
  const session = await lazy.get(op);
  const [status = ""] = await retryIds(session, [id], { state: from, before: ALL, reset }, op);
  if (status !== "ok") throw errorFromReply(status, { op, queue: session.q, jobId: id });
}

/** Puts ended jobs back in line, oldest first, and tells how many. */
export async function retryJobs(lazy: LazySession, options: unknown): Promise<number> {
  const op = "Queue.retryJobs";
  const known = ["state", "timestamp", "count", "resetAttempts"];
  const given = record("options", options === undefined ? {} : options, known);
  const state = checkState("options.state", given.state);
  const reset = flag("options.resetAttempts", given.resetAttempts) ?? false;
  const timestamp = whole("options.timestamp", given.timestamp, 0, ALL);
  const count = Math.min(whole("options.count", given.count, 1, 1_000_000) ?? PAGE, PAGE);
  const session = await lazy.get(op);
  // Without a bound, a job that fails again would be retried for ever.
  const before = timestamp ?? (await session.clock.now());
  let retried = 0;
  // No job is tried twice, such as one that fails again in the very millisecond of the bound.
  const tried = new Set<string>();
  // Places of jobs that stay; the rest has moved up.
  let start = 0;
  for (;;) {
    const args = { state, before, start, count };
    const page = (await session.read(endedScript, { q: session.q, args }, op)) ?? [];
    const ids = page.filter((id) => isJobId(id) && !tried.has(id));
    const statuses = await retryIds(session, ids, { state, before, reset }, op);
    for (const id of ids) tried.add(id);
    retried += statuses.filter((status) => status === "ok").length;
    start += page.length - ids.length;
    if (page.length < count) return retried;
  }
}

/**
 * Retries a few jobs that were seen in the state; a status for each. A call that was sent twice finds
 * those gone that it has retried itself.
 */
export async function retryIds(
  session: Session | Neighbour,
  jobs: readonly string[],
  rule: { readonly state: RetryState; readonly before: number; readonly reset: boolean },
  op: string,
): Promise<readonly string[]> {
  if (jobs.length === 0) return [];
  const args = { ...rule, reset: rule.reset ? 1 : 0 };
  let twice = false;
  const statuses = await session.write(retryScript, { q: session.q, jobs, args }, op, () => {
    twice = true;
  });
  return twice ? statuses.map((one) => (one.startsWith("EMQSTATE") ? "ok" : one)) : statuses;
}
