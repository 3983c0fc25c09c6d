import { EchoMQError } from "@echomq/wire";
import { refuse, shown } from "../options/check.js";
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
  const at = timestamp instanceof Date ? timestamp.getTime() : timestamp;
  if (typeof at !== "number" || !Number.isInteger(at) || at < 0) {
    return refuse("timestamp", `must be a Date or whole ms since 1970, got ${shown(timestamp)}`);
  }
  const delay = at - Date.now();
  if (delay > DELAY_MAX_MS) refuse("timestamp", "must be at most ten years from now");
  return Math.max(delay, 0);
}

/** Sends a job that runs somewhere else. */
export async function moveRun(
  run: RunControl | undefined,
  move: Move,
  token: unknown,
  op: string,
): Promise<void> {
  if (run === undefined) {
    throw new EchoMQError({
      code: "EMQSTATE",
      message: `${op}: only a job in its own run can move itself`,
      op,
    });
  }
  if (token !== undefined && typeof token !== "string") {
    refuse("token", "must be a string; a handler's second argument is { token, signal, lease }");
  }
  if (token !== undefined && token !== run.token) {
    throw new EchoMQError({ code: "EMQSTALE", message: `${op}: the token is not this run's`, op });
  }
  await run.moveTo(move);
}
