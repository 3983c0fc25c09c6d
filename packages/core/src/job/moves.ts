import { EchoMQError } from "@echomq/wire";
import { momentOf, refuse, shown } from "../options/check.js";
import { DELAY_MAX_MS } from "../options/limits.js";
import type { Move } from "../worker/run.js";

/** The run a job belongs to, where it may move itself. */
export interface RunControl {
  readonly token: string;
  /** Sends the job somewhere else: when its handler ends, or at once where it was fetched by hand. */
  moveTo(move: Move): Promise<void>;
}

/**
 * Ms from now until a time of this machine, so that a machine whose clock is wrong waits as long as it
 * meant to; 0 when it has passed.
 * @throws ValidationError `VALIDATION` naming `timestamp`.
 */
export function delayUntil(timestamp: unknown): number {
  const at = momentOf(timestamp);
  if (at === undefined) {
    return refuse("timestamp", `must be a Date or whole ms since 1970, got ${shown(timestamp)}`);
  }
  const delay = at - Date.now();
  if (delay > DELAY_MAX_MS)
    refuse("timestamp", `must be at most ten years from now, got ${shown(at)}`);
  return Math.max(delay, 0);
}

/** Sends a job that runs somewhere else. */
export async function moveRun(
  run: RunControl | undefined,
  move: Move,
  token: unknown,
  about: { readonly op: string; readonly queue: string; readonly jobId: string },
): Promise<void> {
  if (run === undefined) {
    const message =
      "it does not run here: only the job that its own handler was given can move itself";
    throw new EchoMQError({ code: "EMQSTATE", message, ...about });
  }
  if (token !== undefined && typeof token !== "string") {
    refuse("token", "must be a string; a handler's second argument is { token, signal, lease }");
  }
  if (token !== undefined && token !== run.token) {
    const message = "the token is not this run's: give the handler's own, or none";
    throw new EchoMQError({ code: "EMQSTALE", message, ...about });
  }
  await run.moveTo(move);
}
