import { cancelScript } from "@echomq/scripts";
import { errorFromReply, jobId, utf8Length } from "@echomq/wire";
import type { LazySession } from "../../connection/lazy.js";
import { refuse, shown } from "../../options/check.js";

/** Longest reason, in UTF-8 bytes. */
const REASON_MAX = 4_096;

/** Says of a job that it must end, wherever it stands. */
export async function cancelJob(
  lazy: LazySession,
  id: unknown,
  reason: unknown,
  op: string,
): Promise<void> {
  const checked = jobId(id, "id");
  const why = reason === undefined ? "" : reason;
  if (typeof why !== "string") return refuse("reason", `must be a string, got ${shown(why)}`);
  const bytes = utf8Length(why);
  if (bytes > REASON_MAX) {
    refuse("reason", `must be at most ${REASON_MAX} UTF-8 bytes, has ${bytes}`);
  }
  const session = await lazy.get(op);
  const call = { q: session.q, args: { reason: why }, items: [{ id: checked }] };
  const [status = ""] = await session.write(cancelScript, call, op);
  if (status !== "ok") throw errorFromReply(status, { op, queue: session.q, jobId: checked });
}
