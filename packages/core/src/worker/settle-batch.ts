import { numberOf } from "../job/fields.js";
import type { Keep } from "../options/retention.js";
import type { Settlement } from "./outcome.js";

/** Most settlements of one call. */
const BATCH = 250;
/** Most characters of one call, so that a few large results do not hold the server. */
const BATCH_CHARS = 4 * 1024 * 1024;

/** What goes together in one call, and what waits for the next. */
export interface SettleBatch {
  /** Completed jobs without a priority, all with one retention: they ride on `step`. */
  readonly plain: readonly Settlement[];
  /** All other ends, with one retention each for completed and failed: they go through `finish`. */
  readonly other: readonly Settlement[];
  readonly rest: Settlement[];
}

/** Sorts settlements into one call of each script; retention is an argument of the whole call. */
export function settleBatch(pending: readonly Settlement[]): SettleBatch {
  const plain: Settlement[] = [];
  const other: Settlement[] = [];
  const rest: Settlement[] = [];
  const keeps = new Map<string, Keep>();
  let chars = 0;
  for (const one of pending) {
    // Its priority stands in `priorities` and its deduplication record in a key of its own, which only
    // `finish` declares. v1 stores 0 for no priority.
    const { priority, deid } = one.run.fields;
    const isPlain = one.how === "completed" && numberOf(priority, 0) === 0 && deid === undefined;
    const list = isPlain ? plain : other;
    const kind = isPlain ? "plain" : one.how;
    const retained = one.how === "completed" || one.how === "failed";
    const keep = keeps.get(kind);
    const fits = !retained || keep === undefined || same(keep, one.keep);
    const size = one.value.length + one.stack.length;
    const full = list.length >= BATCH || (chars > 0 && chars + size > BATCH_CHARS);
    if (full || !fits) {
      rest.push(one);
      continue;
    }
    if (retained) keeps.set(kind, one.keep);
    list.push(one);
    chars += size;
  }
  return { plain, other, rest };
}

/** Retention of the first of a kind; where there is none, what keeps everything. */
export function keepOfAll(batch: readonly Settlement[], how: Settlement["how"]): Keep {
  return batch.find((one) => one.how === how)?.keep ?? { count: Number.MAX_SAFE_INTEGER, ageMs: 0 };
}

function same(a: Keep, b: Keep): boolean {
  return a.count === b.count && a.ageMs === b.ageMs;
}
