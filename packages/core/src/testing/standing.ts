import { countsScript, limitsScript } from "@echomq/scripts";
import { numberOf } from "../job/fields.js";
import type { JobCounts } from "../job/types.js";
import { NONE } from "../queue/verbs/counts.js";
import { heldFor } from "../queue/verbs/limits.js";
import type { Parts } from "../worker/parts.js";

const OP = "drainQueue";

/** How a queue stands. */
export interface Standing {
  readonly counts: JobCounts;
  /** Jobs stand in line and nothing keeps them from running. */
  readonly runnable: boolean;
  /** Ms until the clock lets something run that does not run now: a delayed job, or one behind a rate. */
  readonly wait: number | undefined;
}

/**
 * Puts what is due in line and looks how the queue stands. `most` is the rate a worker brings with it,
 * `ours` how many of the jobs that run are its own.
 */
export async function standing(
  { session, sweeper }: Parts,
  most: number | undefined,
  ours: number,
): Promise<Standing> {
  // Behind the fence, which names the code where a script refuses.
  const due = (await session.fence.look(session.main, () => sweeper.promoteDue())) ?? 0;
  const call = { q: session.q, args: {} };
  const [found, limits] = await Promise.all([
    session.read(countsScript, call, OP),
    session.read(limitsScript, call, OP),
  ]);
  const { paused, ...counts } = found ?? { ...NONE, paused: 0 };
  const inLine = counts.waiting + counts.prioritized > 0;
  const held = inLine ? Math.max(heldFor(limits, most), heldFor(limits, undefined)) : 0;
  const places = numberOf(limits?.concurrency ?? undefined, Number.POSITIVE_INFINITY);
  const full = counts.active - ours >= places;
  const runnable = inLine && paused === 0 && held === 0 && !full;
  const waits = [
    ...(due > 0 ? [due - session.clock.read()] : []),
    // A window ends with its last ms.
    ...(held > 0 ? [held + 1] : []),
  ];
  // Whatever the clock says, nothing of a paused queue runs.
  const wait = paused === 0 && !full && waits.length > 0 ? Math.min(...waits) : undefined;
  return { counts, runnable, wait };
}
