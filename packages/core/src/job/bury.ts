import { buryScript } from "@echomq/scripts";
import { kindKey, stampKey } from "@echomq/wire";
import type { Session } from "../connection/session.js";
import { isJobId } from "../ids/is-job-id.js";

/** Most ids of one call, as the script bounds it. */
const BATCH = 100;

/**
 * Removes every key of jobs that are in trash; what is not there any more is left alone. Deduplication
 * records that such a job holds go with it.
 * @throws WireError or ServerError.
 */
export async function bury(session: Session, trash: readonly string[], op: string): Promise<void> {
  const ids = trash.filter(isJobId);
  for (let at = 0; at < ids.length; at += BATCH) {
    const jobs = ids.slice(at, at + BATCH);
    const call = { q: session.q, jobs, ...(await recordsOf(session, jobs, op)), args: {} };
    await session.main.run(buryScript, call, { op });
  }
}

/** Records that jobs name in their hashes, as `bury` takes them; whether they hold them it finds out. */
export async function recordsOf(
  session: Session,
  jobs: readonly string[],
  op: string,
): Promise<{ readonly dedups: readonly string[]; readonly locks: readonly { job: number }[] }> {
  const { q, main } = session;
  // The command that the script uses too, so whoever may bury may ask.
  const reads = jobs.map((id) => ["HMGET", kindKey(q, "job", id), "deid"]);
  const found = await main.readEach(reads, { op }, { key: stampKey(q) });
  const dedups: string[] = [];
  const locks: { job: number }[] = [];
  for (const [at, one] of found.entries()) {
    const [deid] = one.ok && Array.isArray(one.value) ? one.value : [];
    if (typeof deid !== "string" || !isJobId(deid)) continue;
    dedups.push(deid);
    locks.push({ job: at + 1 });
  }
  return { dedups, locks };
}
