import { buryScript } from "@echomq/scripts";
import type { Session } from "../../connection/session.js";
import { isJobId } from "../../ids/is-job-id.js";
import { recordsOf } from "../../job/bury.js";

/** Most ids of one call, as the script bounds it. */
const BATCH = 100;

/**
 * Removes the keys of jobs in trash and tells how many went. Trouble ends it early and is not thrown:
 * the jobs are gone for everyone already, and the sweep does what is left.
 */
export async function bury(
  session: Session,
  trash: readonly string[],
  op: string,
): Promise<number> {
  const ids = trash.filter(isJobId);
  let buried = 0;
  try {
    for (let at = 0; at < ids.length; at += BATCH) {
      const jobs = ids.slice(at, at + BATCH);
      const call = { q: session.q, jobs, ...(await recordsOf(session, jobs, op)), args: {} };
      buried += await session.write(buryScript, call, op);
    }
  } catch {
    // As said above.
  }
  return buried;
}
