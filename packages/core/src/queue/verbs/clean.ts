import { addedScript, endedScript, pageScript } from "@echomq/scripts";
import type { LazySession } from "../../connection/lazy.js";
import type { Session } from "../../connection/session.js";
import { isJobId } from "../../ids/is-job-id.js";
import { refuse, shown, whole } from "../../options/check.js";
import { DELAY_MAX_MS } from "../../options/limits.js";
import { removeJobs } from "./remove.js";
import { stateOf } from "./states.js";

/** Most ids of one look. */
const PAGE = 100;
const LIMIT_MAX = 1_000_000_000;

const TYPES = ["completed", "failed", "delayed", "waiting", "prioritized", "wait"] as const;

/** A state `clean` works on; `wait` is the older spelling of `waiting`. */
export type CleanType = (typeof TYPES)[number];

/** Removes old jobs of one state, oldest first, and returns their ids. */
export async function clean(
  lazy: LazySession,
  graceMs: unknown,
  limit: unknown,
  type: unknown = "completed",
): Promise<string[]> {
  const op = "Queue.clean";
  const grace = whole("grace", graceMs, 0, DELAY_MAX_MS) ?? refuse("grace", "is required");
  const most = whole("limit", limit, 0, LIMIT_MAX) ?? refuse("limit", "is required");
  if (!TYPES.includes(type as CleanType)) {
    refuse("type", `must be of ${TYPES.join(", ")}, got ${shown(type)}`);
  }
  const state = stateOf(type as CleanType);
  const session = await lazy.get(op);
  const before = Math.max((await session.clock.now()) - grace, 0);
  const look = state === "completed" || state === "failed" ? endedPage : addedPage;
  const gone: string[] = [];
  // Those that were refused and are still there are not tried again.
  const refused = new Set<string>();
  // Places of jobs that stay; the rest has moved up.
  let start = 0;
  for (;;) {
    const page = await look(session, state, before, start, op);
    if (page === null) return gone;
    const left = most === 0 ? LIMIT_MAX : most - gone.length;
    const tried = page.old.filter((id) => !refused.has(id)).slice(0, left);
    const removed = new Set(await removeJobs(session, tried, { only: state, before }, op));
    gone.push(...removed);
    for (const id of tried) if (!removed.has(id)) refused.add(id);
    start += page.seen - tried.length;
    if (page.seen < PAGE || (most > 0 && gone.length >= most)) return gone;
  }
}

/** Ids of one look that are old enough, and how many were looked at. */
interface Page {
  readonly old: readonly string[];
  readonly seen: number;
}

type Look = (
  session: Session,
  state: string,
  before: number,
  start: number,
  op: string,
) => Promise<Page | null>;

const endedPage: Look = async (session, state, before, start, op) => {
  const args = { state, before, start, count: PAGE };
  const ids = await session.read(endedScript, { q: session.q, args }, op);
  return ids && { old: ids, seen: ids.length };
};

/** Jobs that have not ended are judged by when they were added, which only their hash tells. */
const addedPage: Look = async (session, state, before, start, op) => {
  const args = { state, start, count: PAGE, asc: 1 };
  const ids = await session.read(pageScript, { q: session.q, args }, op);
  if (ids === null) return null;
  const jobs = ids.filter(isJobId);
  const times = await session.read(addedScript, { q: session.q, jobs, args: {} }, op);
  const old = jobs.filter((_, n) => {
    const text = times?.[n] ?? "";
    return text !== "" && Number(text) <= before;
  });
  return { old, seen: ids.length };
};
