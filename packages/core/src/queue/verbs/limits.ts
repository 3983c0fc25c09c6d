import { limitScript, limitsScript, type ReplyOf } from "@echomq/scripts";
import type { LazySession } from "../../connection/lazy.js";
import { numberOf } from "../../job/fields.js";
import { refuse, whole } from "../../options/check.js";
import { LIMIT_MAX, TIMER_MAX_MS } from "../../options/limits.js";
import { rateOf } from "../../options/rate.js";

/** Most jobs of a queue that start in a window of `duration` ms. */
export interface RateLimit {
  readonly max: number;
  readonly duration: number;
}

/** Count that the script writes for a hold set by hand. */
const HELD = Number.MAX_SAFE_INTEGER;

/** Sets how many jobs of the queue run at once, null for no limit. */
export async function setGlobalConcurrency(lazy: LazySession, value: unknown): Promise<void> {
  const most = value === null ? 0 : whole("concurrency", value, 1, LIMIT_MAX);
  if (most === undefined) return refuse("concurrency", "is required; null lifts the limit");
  await set(lazy, "concurrency", most, 0, "Queue.setGlobalConcurrency");
}

/** How many jobs of the queue run at once, null without a limit. */
export async function getGlobalConcurrency(lazy: LazySession): Promise<number | null> {
  const found = await look(lazy, "Queue.getGlobalConcurrency");
  return found?.concurrency ? numberOf(found.concurrency, 0) : null;
}

/** Sets the rate of the queue. */
export async function setGlobalRateLimit(
  lazy: LazySession,
  max: unknown,
  duration: unknown,
): Promise<void> {
  const rate = rateOf("max", max, "duration", duration);
  await set(lazy, "rate", rate.max, rate.ms, "Queue.setGlobalRateLimit");
}

/** Lifts the rate of the queue. */
export async function removeGlobalRateLimit(lazy: LazySession): Promise<void> {
  await set(lazy, "rate", 0, 0, "Queue.removeGlobalRateLimit");
}

/** The rate of the queue, null without one. */
export async function getGlobalRateLimit(lazy: LazySession): Promise<RateLimit | null> {
  const found = await look(lazy, "Queue.getGlobalRateLimit");
  const max = numberOf(found?.rateMax ?? undefined, 0);
  const duration = numberOf(found?.rateMs ?? undefined, 0);
  return max > 0 && duration > 0 ? { max, duration } : null;
}

/** Holds the queue for `ms`; 0 ends a hold. */
export async function rateLimit(lazy: LazySession, ms: unknown, op: string): Promise<void> {
  const checked = whole("ms", ms, 0, TIMER_MAX_MS) ?? refuse("ms", "is required");
  await set(lazy, "hold", 0, checked, op);
}

/** Ms until the queue may start another job by its rate, 0 when it may now. */
export async function getRateLimitTtl(lazy: LazySession, maxJobs: unknown): Promise<number> {
  const most = whole("maxJobs", maxJobs, 1, LIMIT_MAX);
  return heldFor(await look(lazy, "Queue.getRateLimitTtl"), most);
}

/** What the queue says of its limits; null where it does not exist. */
type Limits = ReplyOf<typeof limitsScript.spec> | null;

/** Ms until a rate lets another job start; `most` stands for the queue's own. */
export function heldFor(found: Limits, most: number | undefined): number {
  if (!found) return 0;
  const stored = numberOf(found.rateMax ?? undefined, 0);
  const max = most ?? (stored > 0 ? stored : HELD);
  return found.ttl > 0 && numberOf(found.count ?? undefined, 0) >= max ? found.ttl : 0;
}

async function set(
  lazy: LazySession,
  kind: string,
  most: number,
  ms: number,
  op: string,
): Promise<void> {
  const session = await lazy.get(op);
  await session.write(limitScript, { q: session.q, args: { kind, most, ms } }, op);
}

async function look(lazy: LazySession, op: string): Promise<Limits> {
  const session = await lazy.get(op);
  return session.read(limitsScript, { q: session.q, args: {} }, op);
}
