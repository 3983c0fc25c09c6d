import { getScript } from "@echomq/scripts";
import type { LazySession } from "../connection/lazy.js";
import { fieldsOfPairs } from "./fields.js";
import { Job } from "./job.js";

/** Most jobs of one read, as the script bounds it. */
const BATCH = 100;

/**
 * Reads jobs by id, in the order of the ids; those that are gone are left out.
 * @throws FenceError or ServerError.
 */
export async function readJobs(
  lazy: LazySession,
  ids: readonly string[],
  op: string,
): Promise<Job[]> {
  const session = await lazy.get(op);
  const jobs: Job[] = [];
  for (let at = 0; at < ids.length; at += BATCH) {
    const batch = ids.slice(at, at + BATCH);
    const call = { q: session.q, jobs: batch, args: {} };
    const found = (await session.read(getScript, call, op)) ?? [];
    for (const [n, id] of batch.entries()) {
      const one = found[n];
      if (!one) continue;
      const claimed = one.owner === null ? {} : { claimedAt: Number(one.owner.split(":", 1)[0]) };
      const fields = fieldsOfPairs(one.fields);
      jobs.push(new Job({ id, queue: session.q, fields, ...claimed }, lazy));
    }
  }
  return jobs;
}
