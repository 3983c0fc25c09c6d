import { storedOptions } from "../job/fields.js";
import { fromJson, toJson } from "../job/payload.js";
import { backoffDelay, storedBackoff } from "../options/backoff.js";
import { type Keep, keepOf } from "../options/retention.js";
import { isUnrecoverable, reasonOf, stacksWith } from "./failure.js";
import type { WorkerSettings } from "./options.js";
import type { Run } from "./run.js";

/** How a run ends, as `finish` names it. */
export type How = "completed" | "failed" | "retry" | "delay" | "release";

/** The end of one run, ready to be written. */
export interface Settlement {
  readonly run: Run;
  readonly how: How;
  readonly delay: number;
  /** Result as JSON, or the failure's reason. */
  readonly value: string;
  /** Stacks as a JSON list, empty to leave. */
  readonly stack: string;
  readonly keep: Keep;
  /** What the handler returned or threw, for events. */
  readonly result: unknown;
  /** Set when an earlier call with it was lost: `EMQSTALE` then probably means it was written. */
  doubt: boolean;
}

type Settings = Pick<WorkerSettings, "keepCompleted" | "keepFailed">;

/** The end of a run that returned. A result that is no JSON fails the attempt. */
export function succeeded(run: Run, result: unknown, settings: Settings): Settlement {
  try {
    const value = result === undefined ? "" : toJson("result", result);
    const keep = keepOf(storedOptions(run.fields).removeOnComplete, settings.keepCompleted);
    return { run, how: "completed", delay: 0, value, stack: "", keep, result, doubt: false };
  } catch (error) {
    return failed(run, error, settings);
  }
}

/** The end of a run that threw: another attempt after its backoff, or a failed job. */
export function failed(run: Run, thrown: unknown, settings: Settings): Settlement {
  const opts = storedOptions(run.fields);
  let again = !isUnrecoverable(thrown) && run.atm < attemptsOf(opts);
  let reason = reasonOf(thrown);
  let delay = 0;
  if (again) {
    try {
      const backoff = storedBackoff(opts.backoff);
      delay = backoff ? backoffDelay(backoff, run.atm) : 0;
    } catch (error) {
      again = false;
      reason = `${reason} (no retry: ${reasonOf(error)})`;
    }
  }
  return {
    run,
    how: !again ? "failed" : delay > 0 ? "delay" : "retry",
    delay,
    value: reason,
    stack: stacksWith(stacksOf(run), thrown),
    keep: keepOf(opts.removeOnFail, settings.keepFailed),
    result: thrown,
    doubt: false,
  };
}

/** The end of a job that must not run (again). */
export function doomed(run: Run, verdict: string, settings: Settings): Settlement {
  const why =
    verdict === "stalled"
      ? "job stalled more often than allowed: its worker died or froze while it ran"
      : `job ended without running: ${verdict}`;
  return { ...failed(run, new Error(why), settings), how: "failed", delay: 0 };
}

/** The end of a run that goes back to the head of the line, as if it had not been claimed. */
export function released(run: Run): Settlement {
  const keep = { count: 0, ageMs: 0 };
  return {
    run,
    how: "release",
    delay: 0,
    value: "",
    stack: "",
    keep,
    result: undefined,
    doubt: false,
  };
}

function attemptsOf(opts: Readonly<Record<string, unknown>>): number {
  // v1 stores 0 for "no retry".
  return typeof opts.attempts === "number" ? opts.attempts : 1;
}

function stacksOf(run: Run): readonly string[] {
  const list = fromJson(run.fields.stacktrace);
  return Array.isArray(list) ? list.filter((line) => typeof line === "string") : [];
}
