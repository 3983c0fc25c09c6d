import { setTimeout as sleep } from "node:timers/promises";

/** First and longest wait between two tries, in ms. */
const FIRST_MS = 50;
const LONGEST_MS = 1_000;

/** Wait before try `attempt` (from 1): doubling, capped, with half of it random so clients spread out. */
export function retryDelay(attempt: number): number {
  const full = Math.min(FIRST_MS * 2 ** (attempt - 1), LONGEST_MS);
  return full / 2 + Math.random() * (full / 2);
}

/** Waits for `work`, which never rejects, at most `ms` or until `signal` aborts. */
export async function atMost(work: Promise<void>, ms: number, signal?: AbortSignal): Promise<void> {
  const done = new AbortController();
  const stop = signal ? AbortSignal.any([signal, done.signal]) : done.signal;
  await Promise.race([work, pauseFor(ms, stop)]);
  done.abort();
}

/** Waits `ms`, or less when `signal` aborts. */
export async function pauseFor(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal ? { signal } : undefined).catch(() => undefined);
}
