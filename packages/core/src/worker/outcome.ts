import { storedOptions } from "../job/fields.js";
import { fromJson } from "../job/payload.js";
import { backoffDelay, storedBackoff } from "../options/backoff.js";
import { type Keep, keepOf } from "../options/retention.js";
import { type Codec, JSON_CODEC } from "../options/serializer.js";
import { isUnrecoverable, reasonOf, stacksWith } from "./failure.js";
import type { WorkerSettings } from "./options.js";
import type { Move, Run } from "./run.js";
import { verdictError } from "./verdict.js";

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
  /** The run sent its job elsewhere: it neither completed nor failed. */
  readonly moved?: true;
  /** Set when an earlier call with it was lost: `EMQSTALE` then probably means it was written. */
  doubt: boolean;
}

type Settings = Pick<WorkerSettings, "keepCompleted" | "keepFailed"> & {
  readonly codec?: Codec;
};

/** The end of a run that returned. A result that is no JSON fails the attempt. */
export function succeeded(run: Run, result: unknown, settings: Settings): Settlement {
  try {
    const value =
      result === undefined ? "" : (settings.codec ?? JSON_CODEC).write("result", result);
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

/** The end of a job that must not run (again), by its verdict. */
export function doomed(run: Run, verdict: string, settings: Settings): Settlement {
  // It ended before this run began: no attempt of the job's own.
  run.uncounted = true;
  return ended(run, verdictError(run.id, verdict), settings);
}

/** The end of a run that fails its job, whatever attempts are left. */
export function ended(run: Run, error: Error, settings: Settings): Settlement {
  return { ...failed(run, error, settings), how: "failed", delay: 0, value: reasonOf(error) };
}

/** The end of a run that sent its job somewhere else; it counts as no attempt. */
export function moved(run: Run, move: Move): Settlement {
  run.uncounted = true;
  const delay = move.to === "delayed" ? move.delay : 0;
  return { ...released(run), how: delay > 0 ? "delay" : "retry", delay, moved: true };
}

/** The end of a run that goes back to the head of the line, as if it had not been claimed. */
export function released(run: Run): Settlement {
  return { ...NOTHING, run };
}

const NOTHING: Omit<Settlement, "run"> = {
  how: "release",
  delay: 0,
  value: "",
  stack: "",
  keep: { count: 0, ageMs: 0 },
  result: undefined,
  doubt: false,
};

function attemptsOf(opts: Readonly<Record<string, unknown>>): number {
  // v1 stores 0 for "no retry".
  return typeof opts.attempts === "number" ? opts.attempts : 1;
}

function stacksOf(run: Run): readonly string[] {
  const list = fromJson(run.fields.stacktrace);
  return Array.isArray(list) ? list.filter((line) => typeof line === "string") : [];
}
