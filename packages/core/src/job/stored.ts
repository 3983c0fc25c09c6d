import { type Dispatcher, getScript, type ReplyOf } from "@echomq/scripts";
import type { LazySession } from "../connection/lazy.js";
import type { Session } from "../connection/session.js";
import { type Fields, fieldsOfPairs } from "./fields.js";
import type { JobState } from "./types.js";

/** A job as it stands in Redis. */
export interface StoredJob {
  readonly id: string;
  readonly state: JobState;
  /** When it was claimed, in server ms, while it runs. */
  readonly claimedAt: number | undefined;
  readonly fields: Fields;
}

/** Most jobs of one call, as the script bounds it. */
const BATCH = 100;

/**
 * Reads jobs by id, in the order of the ids; null for those that are gone.
 * @throws FenceError or ServerError.
 */
export async function stored(
  session: Session,
  ids: readonly string[],
  op: string,
): Promise<readonly (StoredJob | null)[]> {
  const found: (StoredJob | null)[] = [];
  for (let at = 0; at < ids.length; at += BATCH) {
    const jobs = ids.slice(at, at + BATCH);
    const reply = await session.read(getScript, { q: session.q, jobs, args: {} }, op);
    found.push(...understood(jobs, reply ?? []));
  }
  return found;
}

/** As {@link stored}, of up to 100 jobs, on a lane that the fence has let through. */
export async function storedOn(
  lane: Dispatcher,
  q: string,
  jobs: readonly string[],
  op: string,
): Promise<readonly (StoredJob | null)[]> {
  return understood(jobs, await lane.run(getScript, { q, jobs, args: {} }, { op }));
}

/** Where a job stands; `unknown` where there is none. */
export async function storedState(lazy: LazySession, id: string, op: string): Promise<JobState> {
  const [found] = await stored(await lazy.get(op), [id], op);
  return found?.state ?? "unknown";
}

function understood(
  ids: readonly string[],
  reply: ReplyOf<typeof getScript.spec>,
): (StoredJob | null)[] {
  return ids.map((id, at) => {
    const one = reply[at];
    if (!one) return null;
    const { owner, fields, state } = one;
    const claimedAt = owner === null ? undefined : Number(owner.split(":", 1)[0]);
    return { id, state: state as JobState, claimedAt, fields: fieldsOfPairs(fields) };
  });
}
