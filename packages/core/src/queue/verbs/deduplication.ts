import { holderScript, unlockScript } from "@echomq/scripts";
import { isEchoMQError, jobId } from "@echomq/wire";
import type { LazySession } from "../../connection/lazy.js";
import { Holders } from "../holders.js";

/** Most looks at one record while its holder changes. */
const TRIES = 10;

/** Id of the job that stands for a deduplication id, null where none does. */
export async function getDeduplicationJobId(
  lazy: LazySession,
  id: unknown,
): Promise<string | null> {
  const op = "Queue.getDeduplicationJobId";
  const dedup = jobId(id, "id");
  const session = await lazy.get(op);
  const holders = new Holders();
  for (let attempt = 1; ; attempt += 1) {
    // The record's own id where nothing is known of a holder: the script then asks for the right one.
    const call = { q: session.q, dedups: [dedup], holders: [holders.of(dedup) ?? dedup], args: {} };
    try {
      return (await session.read(holderScript, call, op))?.[0] ?? null;
    } catch (error) {
      if (!isEchoMQError(error, "EMQRETRY") || attempt === TRIES) throw error;
    }
    await holders.read(session, [dedup], op);
  }
}

/** Frees a deduplication id, whoever holds it or one job only; true when it was held so. */
export async function removeDeduplicationKey(
  lazy: LazySession,
  id: unknown,
  job: string,
  op: string,
): Promise<boolean> {
  const dedup = jobId(id, "id");
  const session = await lazy.get(op);
  const args = { now: await session.clock.now(), job };
  return (await session.write(unlockScript, { q: session.q, dedups: [dedup], args }, op)) === 1;
}
