import { loglinesScript } from "@echomq/scripts";
import { jobId } from "@echomq/wire";
import type { LazySession } from "../../connection/lazy.js";
import { flag } from "../../options/check.js";
import { checkRange, pagesOf } from "./states.js";

/** Most log lines of one page. */
const LINES = 100;

/** A job's log lines and how many there are in all. */
export interface JobLogs {
  readonly logs: string[];
  readonly count: number;
}

/** Log lines of a job, oldest first unless `asc` is false. */
export async function getJobLogs(
  lazy: LazySession,
  id: unknown,
  start: unknown,
  end: unknown,
  asc: unknown,
): Promise<JobLogs> {
  const op = "Queue.getJobLogs";
  const checked = jobId(id, "id");
  const range = checkRange(start, end);
  const first = (flag("asc", asc) ?? true) ? 1 : 0;
  const session = await lazy.get(op);
  const logs: string[] = [];
  let total = 0;
  for (const page of pagesOf(range, LINES)) {
    const call = { q: session.q, jobs: [checked], args: { ...page, asc: first } };
    const reply = await session.read(loglinesScript, call, op);
    if (!reply) break;
    logs.push(...reply.lines);
    total = reply.count;
    if (reply.lines.length < page.count) break;
  }
  return { logs, count: total };
}
