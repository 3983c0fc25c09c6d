import { workersScript } from "@echomq/scripts";
import type { LazySession } from "../../connection/lazy.js";
import { numberOf } from "../../job/fields.js";
import { fromJson } from "../../job/payload.js";
import { WORKER_TTL_MS } from "../../worker/presence.js";
import { pagesOf } from "./states.js";

/** Most workers of one page. */
const PAGE = 500;

/** A worker of the queue, as it said of itself with its last heartbeat. */
export interface WorkerInfo {
  readonly id: string;
  /** The worker's option `name`, if it has one. */
  readonly name?: string;
  readonly host: string;
  readonly pid: number;
  /** In server ms. */
  readonly startedAt: number;
  /** Last heartbeat, in server ms. */
  readonly seenAt: number;
  readonly concurrency: number;
}

/** Workers heard of in the last minute, the one silent longest first. */
export async function getWorkers(lazy: LazySession): Promise<WorkerInfo[]> {
  const op = "Queue.getWorkers";
  const session = await lazy.get(op);
  const since = Math.max((await session.clock.now()) - WORKER_TTL_MS, 0);
  const found = new Map<string, WorkerInfo>();
  for (const { start, count } of pagesOf({ start: 0, end: -1 }, PAGE)) {
    const call = { q: session.q, args: { since, start, count } };
    const page = (await session.read(workersScript, call, op))?.workers ?? [];
    for (const { id, seenAt, info } of page) found.set(id, infoOf(id, seenAt, info));
    if (page.length < count) break;
  }
  return [...found.values()];
}

/** How many workers were heard of in the last minute. */
export async function getWorkersCount(lazy: LazySession): Promise<number> {
  const op = "Queue.getWorkersCount";
  const session = await lazy.get(op);
  const since = Math.max((await session.clock.now()) - WORKER_TTL_MS, 0);
  const call = { q: session.q, args: { since, start: 0, count: 0 } };
  return (await session.read(workersScript, call, op))?.count ?? 0;
}

/** Reads what another program, perhaps of another version, has written. */
function infoOf(id: string, seenAt: number, text: string): WorkerInfo {
  const info = fromJson(text);
  const said = (typeof info === "object" && info !== null ? info : {}) as Record<string, unknown>;
  const number = (value: unknown): number => numberOf(String(value ?? ""), 0);
  return {
    id,
    ...(typeof said.name === "string" ? { name: said.name } : {}),
    host: typeof said.host === "string" ? said.host : "",
    pid: number(said.pid),
    startedAt: number(said.startedAt),
    seenAt,
    concurrency: number(said.concurrency),
  };
}
