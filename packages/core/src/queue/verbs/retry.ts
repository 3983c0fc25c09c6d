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
  readonly resetAttempts?: boolean;
}

/** Which jobs are retried, and how. */
export interface RetryJobsOptions extends RetryOptions {
  /** Where they stand. Default failed. */
  readonly state?: RetryState;
  /** Only jobs that ended by then, in server ms. Default now. */
  readonly timestamp?: number;
  /** Most jobs of one step; all are retried, step by step. Default and at most 100 a step. */
  readonly count?: number;
}

const PAGE = 100;
const ALL = Number.MAX_SAFE_INTEGER;

function checkState(value: unknown): RetryState {
  if (value === undefined || value === "failed" || value === "completed") return value ?? "failed";
  return refuse("state", `must be failed or completed, got ${shown(value)}`);
}

/** Puts one ended job back in line. */
export async function retryJob(
  lazy: LazySession,
  id: string,
  state: unknown,
  options: unknown,
): Promise<void> {
  const op = "Job.retry";
  const from = checkState(state);
  const given = record("options", options === undefined ? {} : options, ["resetAttempts"]);
  const reset = flag("options.resetAttempts", given.resetAttempts) ?? false;
  const session = await lazy.get(op);
  const [status = ""] = await retryIds(session, [id], { state: from, before: ALL, reset }, op);
  if (status !== "ok") throw errorFromReply(status, op);
}

/** Puts ended jobs back in line, oldest first, and tells how many. */
export async function retryJobs(lazy: LazySession, options: unknown): Promise<number> {
  const op = "Queue.retryJobs";
  const known = ["state", "timestamp", "count", "resetAttempts"];
  const given = record("options", options === undefined ? {} : options, known);
  const state = checkState(given.state);
  const reset = flag("options.resetAttempts", given.resetAttempts) ?? false;
  const timestamp = whole("options.timestamp", given.timestamp, 0, ALL);
  const count = Math.min(whole("options.count", given.count, 1, 1_000_000) ?? PAGE, PAGE);
  const session = await lazy.get(op);
  // Without a bound, a job that fails again would be retried for ever.
  const before = timestamp ?? (await session.clock.now());
  // One that fails again in the very millisecond of the bound must not be taken twice either.
  const taken = new Set<string>();
  let start = 0;
  for (;;) {
    const args = { state, before, start, count };
    const page = (await session.read(endedScript, { q: session.q, args }, op)) ?? [];
    const ids = page.filter((id) => isJobId(id) && !taken.has(id));
    const statuses = await retryIds(session, ids, { state, before, reset }, op);
    const stay = statuses.filter((status) => status.startsWith("EMQSTATE")).length;
    for (const [at, id] of ids.entries()) if (statuses[at] === "ok") taken.add(id);
    start += stay + page.length - ids.length;
    if (page.length < count) return taken.size;
  }
}

/** Retries a few jobs; a status for each. */
export async function retryIds(
  session: Session | Neighbour,
  jobs: readonly string[],
  rule: { readonly state: RetryState; readonly before: number; readonly reset: boolean },
  op: string,
): Promise<readonly string[]> {
  if (jobs.length === 0) return [];
  const args = { ...rule, reset: rule.reset ? 1 : 0 };
  return session.write(retryScript, { q: session.q, jobs, args }, op);
}
