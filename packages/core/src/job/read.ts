import type { LazySession } from "../connection/lazy.js";
import { Job } from "./job.js";
import { stored } from "./stored.js";

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
  const found = await stored(session, ids, op);
  return found.flatMap((one) => (one ? [new Job({ ...one, queue: session.q }, lazy)] : []));
}
