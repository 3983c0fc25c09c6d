import { capacityScript } from "@echomq/scripts";
import type { LazySession } from "../../connection/lazy.js";
import { refuse, whole } from "../../options/check.js";

/** Sets how many jobs may wait, or lifts the limit. */
export async function setMaxLength(lazy: LazySession, most: unknown): Promise<void> {
  const op = "Queue.setMaxLength";
  // `undefined` lifts no limit: it is more often a mistake.
  const checked = most === null ? 0 : whole("most", most, 1, Number.MAX_SAFE_INTEGER);
  if (checked === undefined) refuse("most", "must be a whole number, or null for no limit");
  const session = await lazy.get(op);
  await session.write(capacityScript, { q: session.q, args: { most: checked } }, op);
}
