import type { Session } from "../connection/session.js";
import { within } from "../connection/within.js";
import type { WorkerCalls } from "./calls.js";
import type { Settlement } from "./outcome.js";
import { settleBatch } from "./settle-batch.js";

/** Most runs given back in one call. */
const PAGE = 250;

/**
 * Writes the ends of a closing worker's runs and puts the rest back at the head of the line, as far as
 * the server answers in `ms`. Never rejects.
 */
export async function giveBack(
  session: Session,
  calls: WorkerCalls,
  ends: readonly Settlement[],
  ms: number,
  trouble: (error: unknown) => void,
): Promise<void> {
  const until = performance.now() + ms;
  if (session.clock.read() === 0) await within(session.clock.now(), ms);
  for (const page of pagesOf(ends)) {
    const left = Math.ceil(until - performance.now());
    if (left <= 0) return;
    const options = { retryMs: left, timeoutMs: left };
    await calls.finish(page, session.clock.read(), options).catch(trouble);
  }
}

function pagesOf(ends: readonly Settlement[]): Settlement[][] {
  const pages: Settlement[][] = [];
  let rest: readonly Settlement[] = ends.filter(({ how }) => how !== "release");
  while (rest.length > 0) {
    const batch = settleBatch(rest);
    // Apart, because one call has one retention.
    pages.push([...batch.plain], [...batch.other]);
    rest = batch.rest;
  }
  // The oldest last: each page goes to the head of the line, before the one sent earlier.
  const back = ends.filter(({ how }) => how === "release");
  for (let end = back.length; end > 0; end -= PAGE) {
    pages.push(back.slice(Math.max(end - PAGE, 0), end));
  }
  return pages.filter(({ length }) => length > 0);
}
