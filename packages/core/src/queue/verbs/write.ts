import { dataScript, logScript, progressScript } from "@echomq/scripts";
import { type ErrorContext, errorFromReply, utf8Length } from "@echomq/wire";
import type { LazySession } from "../../connection/lazy.js";
import { toJson } from "../../job/payload.js";
import { refuse, shown } from "../../options/check.js";
import { KEEP_LOGS, KEEP_LOGS_MAX, LOG_LINE_MAX } from "../../options/limits.js";

/** The job that is written to, and the lease token when its own run writes. */
export interface Target {
  readonly id: string;
  readonly token: string;
}

/** Replaces a job's payload; resolves to it as it is stored. */
export async function updateData(
  lazy: LazySession,
  { id, token }: Target,
  data: unknown,
): Promise<string> {
  const op = "Job.updateData";
  const text = lazy.codec.write("data", data === undefined ? {} : data, lazy.maxDataSize);
  const session = await lazy.get(op);
  const call = { q: session.q, jobs: [id], args: { token, data: text } };
  accepted(await session.write(dataScript, call, op), { op, queue: session.q, jobId: id });
  return text;
}

/** Notes how far a job is; resolves to it as JSON. */
export async function updateProgress(
  lazy: LazySession,
  { id, token }: Target,
  progress: unknown,
): Promise<string> {
  const op = "Job.updateProgress";
  const text = toJson("progress", progress);
  const session = await lazy.get(op);
  const call = { q: session.q, jobs: [id], args: { token, progress: text } };
  accepted(await session.write(progressScript, call, op), { op, queue: session.q, jobId: id });
  return text;
}

/** Appends a line to a job's log; resolves to how many lines there are. */
export async function log(
  lazy: LazySession,
  { id, token }: Target,
  line: unknown,
  keepLogs: unknown,
): Promise<number> {
  const op = "Job.log";
  if (typeof line !== "string") return refuse("line", `must be a string, got ${shown(line)}`);
  if (utf8Length(line) > LOG_LINE_MAX) {
    refuse("line", `must be at most ${LOG_LINE_MAX} UTF-8 bytes, has ${utf8Length(line)}`);
  }
  const session = await lazy.get(op);
  // Stored by whatever version: what is no count is the default.
  const known = Number.isInteger(keepLogs) && (keepLogs as number) > 0;
  const keep = known ? Math.min(keepLogs as number, KEEP_LOGS_MAX) : KEEP_LOGS;
  const call = { q: session.q, jobs: [id], args: { token, keep }, lines: [{ line }] };
  const { status, count } = await session.write(logScript, call, op);
  accepted(status, { op, queue: session.q, jobId: id });
  return count;
}

function accepted(status: string, about: ErrorContext): void {
  if (status !== "ok") throw errorFromReply(status, about);
}
