import { CancelledError } from "./errors.js";

/** How a verdict of `cancel` begins; the reason follows. */
const CANCELLED = "cancelled:";

/** Why a job must end, as the error its failure is told with. */
export function verdictError(id: string, verdict: string): Error {
  if (verdict === "stalled") {
    return new Error(
      "job stalled more often than allowed: its worker died or froze (option maxStalledCount)",
    );
  }
  if (verdict === "cancelled" || verdict.startsWith(CANCELLED)) {
    return new CancelledError(id, verdict.slice(CANCELLED.length));
  }
  return new Error(`job ended without running: ${verdict}`);
}
