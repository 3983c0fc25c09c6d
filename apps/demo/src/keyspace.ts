import { reserveKey, stampKey } from "@echomq/wire";
import type { Redis } from "ioredis";

/** Name of the demo's queue, on v1 and on v2. */
export const QUEUE = "echomq-demo";
/** Prefix of the v1 side, which is bullmq's own default. */
export const PREFIX = "bull";

const OWN = [`${PREFIX}:${QUEUE}:*`, `emq:{${QUEUE}}:*`];
// `echomq-demo-2` is somebody else's queue.
const OURS = new RegExp(`(?:^|:)\\{?${QUEUE}\\}?(?::|$)`);
const RESERVE = [reserveKey("version"), reserveKey("nodes")];
const PAGE = 1_000;

/** Which keys of the reserve, shared by all queues of a server, stood before the demo. */
export type ReserveBefore = ReadonlySet<string>;

/** Keys that bear the demo's queue name at any prefix; at most a few. */
export async function foreignKeys(admin: Redis): Promise<string[]> {
  for await (const keys of admin.scanStream({ match: `*${QUEUE}*`, count: PAGE })) {
    const ours = (keys as string[]).filter((key) => OURS.test(key));
    if (ours.length > 0) return ours.slice(0, 3);
  }
  return [];
}

/** Looks which keys of the reserve stand. */
export async function reserveBefore(admin: Redis): Promise<ReserveBefore> {
  const found = new Set<string>();
  for (const key of RESERVE) if ((await admin.exists(key)) === 1) found.add(key);
  return found;
}

/** Whether the demo's queue has a stamp on the v2 wire. */
export async function isStamped(admin: Redis): Promise<boolean> {
  return (await admin.exists(stampKey(QUEUE))) === 1;
}

/**
 * Removes the demo's own keys; the reserve only where it was not there before and no other v2 queue is.
 * Gives how many went.
 */
export async function removeOwnKeys(admin: Redis, before: ReserveBefore): Promise<number> {
  let removed = await admin.unlink(reserveKey("migration", QUEUE));
  for (const match of OWN) {
    for await (const keys of admin.scanStream({ match, count: PAGE })) {
      if ((keys as string[]).length > 0) removed += await admin.unlink(...(keys as string[]));
    }
  }
  const fresh = RESERVE.filter((key) => !before.has(key));
  if (fresh.length > 0 && !(await otherQueues(admin))) removed += await admin.unlink(...fresh);
  return removed;
}

async function otherQueues(admin: Redis): Promise<boolean> {
  for await (const keys of admin.scanStream({ match: "emq:{*", count: PAGE })) {
    if ((keys as string[]).length > 0) return true;
  }
  return false;
}
