import { redelayScript, rerankScript } from "@echomq/scripts";
import { errorFromReply, LIMITS } from "@echomq/wire";
import type { LazySession } from "../../connection/lazy.js";
import { flag, record, refuse, whole } from "../../options/check.js";
import { DELAY_MAX_MS } from "../../options/limits.js";

/** A job's new place in line. */
export interface ChangePriorityOptions {
  /** 1 runs first, 0 for none. Default 0. */
  readonly priority?: number | undefined;
  /** Ahead of all others of its priority. Default false. */
  readonly lifo?: boolean | undefined;
}

/** Gives a delayed job another delay, in ms from now. */
export async function changeDelay(lazy: LazySession, id: string, delay: unknown): Promise<void> {
  const op = "Job.changeDelay";
  const ms = whole("delay", delay, 0, DELAY_MAX_MS) ?? refuse("delay", "is required");
  const session = await lazy.get(op);
  const args = { now: await session.clock.now(), delay: ms };
  const call = { q: session.q, jobs: [id], args };
  const [status = ""] = await session.write(redelayScript, call, op);
  if (status !== "ok") throw errorFromReply(status, { op, queue: session.q, jobId: id });
}

/** Gives a job in line, or a delayed one, another priority. */
export async function changePriority(
  lazy: LazySession,
  id: string,
  options: unknown,
): Promise<void> {
  const op = "Job.changePriority";
  const given = record("options", options, ["priority", "lifo"]);
  const priority = whole("options.priority", given.priority, 0, LIMITS.priorityMax) ?? 0;
  const lifo = flag("options.lifo", given.lifo) ?? false;
  const session = await lazy.get(op);
  const call = { q: session.q, jobs: [id], args: { priority, lifo: lifo ? 1 : 0 } };
  const [status = ""] = await session.write(rerankScript, call, op);
  if (status !== "ok") throw errorFromReply(status, { op, queue: session.q, jobId: id });
}
