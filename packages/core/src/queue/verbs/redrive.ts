import { pageScript } from "@echomq/scripts";
import { queueName } from "@echomq/wire";
import type { LazySession } from "../../connection/lazy.js";
import type { Session } from "../../connection/session.js";
import { isJobId } from "../../ids/is-job-id.js";
import { type Addition, addTo, sourceOf } from "../../job/dead-letter.js";
import { numberOf, storedOptions } from "../../job/fields.js";
import { type StoredJob, stored } from "../../job/stored.js";
import { record, whole } from "../../options/check.js";
import { removeJobs } from "./remove.js";
import { retryIds } from "./retry.js";

/** Most letters of one step. */
const PAGE = 20;
const ALL = Number.MAX_SAFE_INTEGER;
const OP = "Queue.redrive";

/** Which letters go back, and where. */
export interface RedriveOptions {
  /** How many at most. Default all. */
  readonly count?: number | undefined;
  /** Another queue than the one each came from. */
  readonly to?: string | undefined;
}

/** A letter on its way back. */
interface Returning {
  /** Id in the dead-letter queue. */
  readonly letter: string;
  readonly to: string;
  readonly job: Addition;
}

/** Moves dead letters back to the queue they came from, oldest first, and tells how many. */
export async function redrive(lazy: LazySession, options: unknown): Promise<number> {
  const given = record("options", options === undefined ? {} : options, ["count", "to"]);
  const most = whole("options.count", given.count, 1, 1_000_000_000) ?? ALL;
  const to = given.to === undefined ? undefined : queueName(given.to, "options.to");
  const session = await lazy.get(OP);
  let moved = 0;
  // Places of jobs that are no letters, and stay.
  let start = 0;
  while (moved < most) {
    const count = Math.min(PAGE, most - moved);
    const args = { state: "waiting", start, count, asc: 1 };
    const ids = (await session.read(pageScript, { q: session.q, args }, OP)) ?? [];
    const letters = await read(session, ids.filter(isJobId), to);
    const targets = new Set(letters.map((letter) => letter.to));
    for (const target of targets) {
      const mine = letters.filter((letter) => letter.to === target);
      // Back first, gone after: whoever dies between the two brings it back twice, which is once.
      await bringBack(session, target, mine, to === undefined);
      const rule = { only: "waiting", before: ALL };
      await removeJobs(
        session,
        mine.map(({ letter }) => letter),
        rule,
        OP,
      );
    }
    moved += letters.length;
    start += ids.length - letters.length;
    if (ids.length < count) break;
  }
  return moved;
}

async function read(
  session: Session,
  ids: readonly string[],
  to: string | undefined,
): Promise<Returning[]> {
  return (await stored(session, ids, OP)).flatMap((one) => {
    const back = one ? returning(one, to) : null;
    return back ? [back] : [];
  });
}

function returning({ id: letter, fields }: StoredJob, to: string | undefined): Returning | null {
  const source = sourceOf(storedOptions(fields));
  if (!source || !isJobId(source.id)) return null;
  const job = {
    id: source.id,
    name: fields.name ?? "",
    data: fields.data ?? "",
    timestamp: Math.max(Math.floor(numberOf(fields.timestamp, 0)), 0),
    priority: source.priority,
    opts: source.opts,
  };
  return { letter, to: to ?? source.queue, job };
}

/** Retries jobs that still stand as failed; those that are gone are added anew under their own id. */
async function bringBack(
  session: Session,
  q: string,
  letters: readonly Returning[],
  home: boolean,
): Promise<void> {
  const target = session.neighbour(q);
  const jobs = letters.map(({ job }) => job);
  const rule = { state: "failed", before: ALL, reset: true } as const;
  const ids = jobs.map(({ id }) => id);
  const statuses = home ? await retryIds(target, ids, rule, OP) : [];
  // Whoever stands in another state was brought back before, or by hand.
  const gone = jobs.filter((_, at) => !home || statuses[at]?.startsWith("EMQMISSING"));
  if (gone.length > 0) await addTo(target, gone, OP);
}
