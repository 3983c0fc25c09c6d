import { removeScript } from "@echomq/scripts";
import { errorFromReply, jobId } from "@echomq/wire";
import type { LazySession } from "../../connection/lazy.js";
import type { Session } from "../../connection/session.js";
import { bury } from "./bury.js";

/** Most waiting ids of one call: each costs a search of the line. */
const WAITING_BATCH = 20;
const BATCH = 100;

/** Which of the ids named may go. */
export interface RemoveRule {
  /** The one state they may stand in; empty for any. */
  readonly only: string;
  /** Ended jobs go only if they ended by then, in server ms. */
  readonly before: number;
}

const ANY: RemoveRule = { only: "", before: Number.MAX_SAFE_INTEGER };

/** Removes one job; 1 when it went, 0 when there was none. */
export async function removeJob(lazy: LazySession, id: unknown, op: string): Promise<number> {
  const checked = jobId(id, "id");
  const session = await lazy.get(op);
  const [status = ""] = await take(session, [checked], ANY, op);
  if (status === "ok") {
    await bury(session, [checked], op);
    return 1;
  }
  if (status.startsWith("EMQMISSING")) return 0;
  throw errorFromReply(status, { op, queue: session.q, jobId: checked });
}

/** Removes those jobs that the rule lets go, in bounded steps, and returns their ids. */
export async function removeJobs(
  session: Session,
  ids: readonly string[],
  rule: RemoveRule,
  op: string,
): Promise<string[]> {
  const most = rule.only === "" || rule.only === "waiting" ? WAITING_BATCH : BATCH;
  const gone: string[] = [];
  for (let at = 0; at < ids.length; at += most) {
    const batch = ids.slice(at, at + most);
    const statuses = await take(session, batch, rule, op);
    const taken = batch.filter((_, n) => statuses[n] === "ok");
    await bury(session, taken, op);
    gone.push(...taken);
  }
  return gone;
}

async function take(
  session: Session,
  ids: readonly string[],
  rule: RemoveRule,
  op: string,
): Promise<readonly string[]> {
  const args = { now: await session.clock.now(), ...rule };
  const items = ids.map((id) => ({ id }));
  let twice = false;
  const statuses = await session.write(removeScript, { q: session.q, args, items }, op, () => {
    twice = true;
  });
  // Sent twice, it may find what it has removed itself, which stood in its state a moment ago.
  const mine = twice && rule.only !== "";
  return mine ? statuses.map((one) => (one.startsWith("EMQMISSING") ? "ok" : one)) : statuses;
}
