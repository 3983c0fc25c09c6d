import {
  closeScript,
  countsScript,
  expiredScript,
  unscheduleScript,
  wipeScript,
} from "@echomq/scripts";
import { WireError } from "@echomq/wire";
import type { LazySession } from "../../connection/lazy.js";
import type { Session } from "../../connection/session.js";
import { isJobId } from "../../ids/is-job-id.js";
import { flag, record } from "../../options/check.js";
import { bury } from "./bury.js";
import { purge } from "./drain.js";

/** How a queue is taken down. */
export interface ObliterateOptions {
  /**
   * Also while jobs are active, whose leases end so that what they write is refused; schedulers and flows
   * that were not committed go too. Default false.
   */
  readonly force?: boolean | undefined;
}

/** Most jobs of one page. */
const PAGE = 500;
/** Structures that only `force` empties. */
const FORCED: ReadonlySet<string> = new Set(["active", "schedulers", "staged"]);
/** Structures that are paged out; others are not ours to empty. */
const PAGED: ReadonlySet<string> = new Set([
  "waiting",
  "prioritized",
  "delayed",
  "held",
  "waiting-children",
  "completed",
  "failed",
  "active",
  "outbox",
  "staged",
]);

/** Removes everything a queue holds. Whatever an earlier call left undone is done. */
export async function obliterate(lazy: LazySession, options: unknown): Promise<void> {
  const op = "Queue.obliterate";
  const given = record("options", options === undefined ? {} : options, ["force"]);
  const force = flag("options.force", given.force) ?? false;
  const session = await lazy.get(op);
  // A queue that does not exist is not created to be removed.
  if (!(await session.read(countsScript, { q: session.q, args: {} }, op))) return;
  const args = { now: await session.clock.now(), force: force ? 1 : 0 };
  await session.write(closeScript, { q: session.q, args }, op);
  let kept = "";
  for (;;) {
    const left = await session.write(wipeScript, { q: session.q, args: {} }, op);
    if (left === "" || left === "open") return;
    // Taken twice without anything to take: a page whose answer was lost looks like that only once.
    const some = await empty(session, left, force, op);
    if (!some && kept === left) throw stuck(left, force, session.q, op);
    kept = some ? "" : left;
  }
}

/** Empties one structure page by page; false when nothing could be taken. */
async function empty(session: Session, left: string, force: boolean, op: string): Promise<boolean> {
  if (FORCED.has(left) && !force) return false;
  if (left === "trash") return emptyTrash(session, op);
  if (left === "schedulers") return unschedule(session, op);
  if (!PAGED.has(left)) return false;
  let some = false;
  while ((await purge(session, left, PAGE, op)) > 0) some = true;
  return some;
}

async function emptyTrash(session: Session, op: string): Promise<boolean> {
  const args = { now: 0, limit: PAGE };
  const found = await session.read(expiredScript, { q: session.q, args }, op);
  return (await bury(session, found?.trash ?? [], op)) > 0;
}

async function unschedule(session: Session, op: string): Promise<boolean> {
  let some = false;
  for (let records: readonly string[] = []; ; some = true) {
    const call = { q: session.q, records, args: { limit: PAGE } };
    const next = await session.write(unscheduleScript, call, op);
    records = next.filter(isJobId);
    if (records.length === 0) return some;
  }
}

function stuck(left: string, force: boolean, queue: string, op: string): WireError {
  const detail =
    FORCED.has(left) && !force
      ? `the queue is closing and ${left === "active" ? "jobs are active" : `it holds ${left}`}: call obliterate with force to go on`
      : `the queue is closing and ${left} cannot be emptied: call doctor with fix, then obliterate again`;
  return new WireError({ code: "EMQSTATE", detail, op, queue });
}
