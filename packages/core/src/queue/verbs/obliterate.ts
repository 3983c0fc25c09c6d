import { closeScript, countsScript, expiredScript, wipeScript } from "@echomq/scripts";
import { WireError } from "@echomq/wire";
import type { LazySession } from "../../connection/lazy.js";
import type { Session } from "../../connection/session.js";
import { flag, record } from "../../options/check.js";
import { bury } from "./bury.js";
import { purge } from "./drain.js";

/** How a queue is taken down. */
export interface ObliterateOptions {
  /** Also while jobs are active: their leases end, and what they write is refused. Default false. */
  readonly force?: boolean;
}

/** Most jobs of one page. */
const PAGE = 500;
/** Structures whose jobs are paged out; others are not ours to empty. */
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
  for (;;) {
    const left = await session.write(wipeScript, { q: session.q, args: {} }, op);
    if (left === "" || left === "open") return;
    if (!(await empty(session, left, force, op))) throw stuck(left, op);
  }
}

/** Empties one structure page by page; false when nothing could be taken. */
async function empty(session: Session, left: string, force: boolean, op: string): Promise<boolean> {
  if (left === "trash") return emptyTrash(session, op);
  if (!PAGED.has(left) || (left === "active" && !force)) return false;
  let some = false;
  while ((await purge(session, left, PAGE, op)) > 0) some = true;
  return some;
}

async function emptyTrash(session: Session, op: string): Promise<boolean> {
  const args = { now: 0, limit: PAGE };
  const found = await session.read(expiredScript, { q: session.q, args }, op);
  return (await bury(session, found?.trash ?? [], op)) > 0;
}

function stuck(left: string, op: string): WireError {
  const detail =
    left === "active"
      ? "the queue is closing and jobs are active: call obliterate with force to go on"
      : `the queue is closing and ${left} cannot be emptied: run doctor with fix, then obliterate again`;
  return new WireError({ code: "EMQSTATE", detail, op });
}
