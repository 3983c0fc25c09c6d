import { setTimeout as sleep } from "node:timers/promises";
import { typedError } from "@echomq/scripts";
import type { EchoMQError } from "@echomq/wire";
import { closedError } from "../connection/lazy.js";

/**
 * Tries to open a worker until it succeeds, is refused, or the worker closes. Trouble that passes is
 * told and waited for.
 * @throws what refused it, `EchoMQError` `CLOSED` when the worker closed meanwhile.
 */
export async function starting<T>(
  queue: string,
  open: () => Promise<T>,
  signal: AbortSignal,
  report: (error: EchoMQError) => void,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (signal.aborted) throw closedError("Worker.run", queue);
      return await open();
    } catch (error) {
      const typed = typedError(error, { op: "Worker.run", queue });
      if (signal.aborted) throw closedError("Worker.run", queue);
      report(typed);
      if (!typed.transient) throw typed;
      const ms = Math.min(100 * 2 ** attempt, 2_000);
      await sleep(ms, undefined, { signal }).catch(() => undefined);
    }
  }
}
