import { storedOptions } from "../job/fields.js";
import { fromJson } from "../job/payload.js";
import { type Keep, keepOf } from "../options/retention.js";
import { isPromise } from "../options/schema.js";
import { type Codec, JSON_CODEC } from "../options/serializer.js";
import { type BackoffStrategy, backoffOf } from "./backoff.js";
import { errorOf, isUnrecoverable, reasonOf, stacksWith } from "./failure.js";
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
  readonly backoffStrategy?: BackoffStrategy | undefined;
};

/**
 * The end of a run that returned. A result that is no JSON fails the attempt; a promise only where
 * {@link failed} gives one.
 */
export function succeeded(
  run: Run,
  result: unknown,
  settings: Settings,
): Settlement | Promise<Settlement> {
  try {
    const value =
      result === undefined ? "" : (settings.codec ?? JSON_CODEC).write("result", result);
    const keep = keepOfRun(run, settings.keepCompleted);
    return { run, how: "completed", delay: 0, value, stack: "", keep, result, doubt: false };
  } catch (error) {
    return failed(run, error, settings);
  }
}

/**
 * The end of a run that threw: another attempt after its backoff, or a failed job. A promise only where
 * the worker's backoff strategy gives one; it never rejects.
 */
export function failed(
  run: Run,
  thrown: unknown,
  settings: Settings,
): Settlement | Promise<Settlement> {
  const opts = storedOptions(run.fields);
  const end = failure(run, thrown, settings);
  if (isUnrecoverable(thrown) || run.atm >= attemptsOf(opts)) return end;
  const again = (delay: number): Settlement => ({
    ...end,
    how: delay > 0 ? "delay" : "retry",
    delay,
  });
  const never = (error: unknown): Settlement => ({
    ...end,
    value: `${end.value} (no retry: ${reasonOf(error)})`,
  });
  try {
    const wait = backoffOf(run, opts.backoff, errorOf(thrown), settings.backoffStrategy);
    return isPromise(wait) ? wait.then(again, never) : again(wait);
  } catch (error) {
    return never(error);
  }
}

/** The end of a run whose job has no attempt left. */
function failure(run: Run, thrown: unknown, settings: Settings): Settlement {
  return {
    run,
    how: "failed",
    delay: 0,
    value: reasonOf(thrown),
    stack: stacksWith(stacksOf(run), thrown),
    keep: keepOf(storedOptions(run.fields).removeOnFail, settings.keepFailed),
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
  return failure(run, error, settings);
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

/** The last answer of {@link keepOfRun}: jobs of one queue mostly carry the same options. */
let kept:
  | { readonly opts: string | undefined; readonly fallback: Keep; readonly keep: Keep }
  | undefined;

function keepOfRun(run: Run, fallback: Keep): Keep {
  const { opts } = run.fields;
  if (kept?.opts !== opts || kept?.fallback !== fallback) {
    const keep = keepOf(storedOptions(run.fields).removeOnComplete, fallback);
    kept = { opts, fallback, keep };
  }
  return kept.keep;
}

function attemptsOf(opts: Readonly<Record<string, unknown>>): number {
  // v1 stores 0 for "no retry".
  return typeof opts.attempts === "number" ? opts.attempts : 1;
}

function stacksOf(run: Run): readonly string[] {
  const list = fromJson(run.fields.stacktrace);
  return Array.isArray(list) ? list.filter((line) => typeof line === "string") : [];
}
