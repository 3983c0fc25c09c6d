import { DELAY_MAX_MS, TIMER_MAX_MS } from "../options/limits.js";
import { attempt } from "./failure.js";
import type { Move } from "./run.js";

/** What a handler asks for by throwing, besides another attempt. */
export type Control =
  | Move
  | { readonly to: "head"; readonly delay: number | undefined }
  | { readonly to: "nowhere" };

/**
 * What a control error asks for, of any copy of this package; undefined for any other value. `moved` is
 * where the job asked to go before.
 */
export function controlOf(thrown: unknown, moved: Move | undefined): Control | undefined {
  const name = attempt(() => (thrown as Error).name);
  if (name === "WaitingError") return { to: "wait" };
  if (name === "DelayedError") {
    const delay = delayOf(thrown, DELAY_MAX_MS);
    if (delay !== undefined) return { to: "delayed", delay };
    return moved ?? { to: "nowhere" };
  }
  if (name !== "RateLimitError") return undefined;
  return { to: "head", delay: delayOf(thrown, TIMER_MAX_MS) };
}

function delayOf(thrown: unknown, most: number): number | undefined {
  const delay = attempt(() => (thrown as { readonly delay?: unknown }).delay);
  if (typeof delay !== "number" || !Number.isInteger(delay)) return undefined;
  return delay >= 0 && delay <= most ? delay : undefined;
}
