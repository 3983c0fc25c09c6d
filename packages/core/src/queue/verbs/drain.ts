import { countsScript, purgeScript } from "@echomq/scripts";
import type { LazySession } from "../../connection/lazy.js";
import type { Session } from "../../connection/session.js";
import { flag } from "../../options/check.js";
import { bury } from "./bury.js";

/** Most jobs of one page. */
const PAGE = 500;

/** Removes the jobs in line, and the delayed ones when asked to; tells how many went. */
export async function drain(lazy: LazySession, delayed: unknown): Promise<number> {
  const op = "Queue.drain";
  const all = flag("delayed", delayed) ?? false;
  const session = await lazy.get(op);
  const counts = await session.read(countsScript, { q: session.q, args: {} }, op);
  if (!counts) return 0;
  // Delayed ones first: due ones move into line meanwhile.
  const states = [...(all ? (["delayed"] as const) : []), "prioritized", "waiting"] as const;
  // A producer may add faster than this removes: what came later stays.
  const most = states.reduce((sum, state) => sum + counts[state], 0);
  let gone = 0;
  for (const state of states) {
    while (gone < most) {
      const taken = await purge(session, state, Math.min(PAGE, most - gone), op);
      gone += taken;
      if (taken === 0) break;
    }
  }
  return gone;
}

/** Takes one page of a state out and buries it; tells how many it were. */
export async function purge(
  session: Session,
  state: string,
  limit: number,
  op: string,
): Promise<number> {
  const args = { now: await session.clock.now(), state, limit };
  const ids = await session.write(purgeScript, { q: session.q, args }, op);
  // What these hold are no jobs.
  if (state !== "outbox" && state !== "staged") await bury(session, ids, op);
  return ids.length;
}
