import { refuse, whole } from "./check.js";
import { LIMIT_MAX, TIMER_MAX_MS } from "./limits.js";

/** Most jobs that start in a window. */
export interface Rate {
  readonly max: number;
  /** Length of the window, in ms. */
  readonly ms: number;
}

/**
 * A rate, both numbers given.
 * @throws ValidationError `VALIDATION` naming the number.
 */
export function rateOf(maxName: string, max: unknown, msName: string, ms: unknown): Rate {
  return {
    max: whole(maxName, max, 1, LIMIT_MAX) ?? refuse(maxName, "is required"),
    ms: whole(msName, ms, 1, TIMER_MAX_MS) ?? refuse(msName, "is required"),
  };
}
