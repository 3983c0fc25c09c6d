import type { LazySession } from "../connection/lazy.js";
import { checkWait, type WaitOptions, waitUntilFinished } from "../events/wait.js";
import { cancelJob } from "../queue/verbs/cancel.js";
import { type ChangePriorityOptions, changeDelay, changePriority } from "../queue/verbs/change.js";
import { removeDeduplicationKey } from "../queue/verbs/deduplication.js";
import { getJobLogs, type JobLogs } from "../queue/verbs/logs.js";
import { promoteJob } from "../queue/verbs/promote.js";
import { removeJob } from "../queue/verbs/remove.js";
import { type RetryOptions, type RetryState, retryJob } from "../queue/verbs/retry.js";
import { log, updateData, updateProgress } from "../queue/verbs/write.js";
import { attemptsMade, countOf, type Fields, knownOptions, numberOf } from "./fields.js";
import { delayUntil, moveRun, type RunControl } from "./moves.js";
import { fromJson, readPayload } from "./payload.js";
import { storedState } from "./stored.js";
import type { JobState } from "./types.js";

/** What a job was when it was read or added. */
export interface JobInit {
  readonly id: string;
  readonly queue: string;
  readonly fields: Fields;
  /** Claim time while it runs, in server ms. */
  readonly claimedAt?: number | undefined;
  /** How often it was begun, this run included, while it runs. */
  readonly started?: number;
  /** Lease token, for the run itself: what it writes is refused once the lease is lost. */
  readonly token?: string;
  /** The run itself, where the job is to move itself. */
  readonly run?: RunControl;
}

/** One job as it was read. It follows no later changes but those made through it. */
export class Job<Data = unknown, Result = unknown, Name extends string = string> {
  readonly id: string;
  readonly queueName: string;
  readonly name: Name;
  /** What it was given; {@link updateData} replaces it. */
  data: Data;
  /** Options stored with the job. */
  readonly opts: Readonly<Record<string, unknown>>;
  /** When it was added, in server ms. */
  readonly timestamp: number;
  /** Delay it was given or retried with, in ms. */
  readonly delay: number;
  /** 0 for none. */
  readonly priority: number;
  /** Id it was deduplicated under. */
  readonly deduplicationId: string | undefined;
  /** Attempts that have ended and counted. */
  readonly attemptsMade: number;
  /** How often it was begun; in its handler this run included. */
  readonly attemptsStarted: number;
  /** How often its lease was lost. */
  readonly stalledCounter: number;
  /** As of the last {@link updateProgress} through this object. */
  progress: unknown;
  /** Start of the last run, in server ms. */
  readonly processedOn: number | undefined;
  readonly finishedOn: number | undefined;
  readonly returnvalue: Result | undefined;
  readonly failedReason: string | undefined;
  readonly stacktrace: readonly string[];
  readonly #session: LazySession;
  readonly #token: string;
  readonly #run: RunControl | undefined;

  constructor(init: JobInit, session: LazySession) {
    const { fields } = init;
    this.#session = session;
    this.#token = init.token ?? "";
    this.#run = init.run;
    this.id = init.id;
    this.queueName = init.queue;
    this.name = (fields.name ?? "") as Name;
    this.data = readPayload(this, session.codec, fields.data) as Data;
    this.opts = knownOptions(fields);
    this.timestamp = numberOf(fields.timestamp, 0);
    this.delay = numberOf(fields.delay, 0);
    this.priority = numberOf(fields.priority, 0);
    this.deduplicationId = fields.deid;
    this.attemptsMade = attemptsMade(fields);
    this.attemptsStarted = init.started ?? countOf(fields.ats);
    this.stalledCounter = countOf(fields.stc);
    this.progress = fromJson(fields.progress) ?? 0;
    this.processedOn = init.claimedAt ?? optional(fields.processedOn);
    this.finishedOn = optional(fields.finishedOn);
    this.returnvalue = readPayload(null, session.codec, fields.returnvalue) as Result | undefined;
    this.failedReason = fields.failedReason;
    this.stacktrace = stackOf(fields.stacktrace);
  }

  /**
   * Where the job stands now; `unknown` when it is gone.
   * @throws FenceError or ServerError.
   */
  async getState(): Promise<JobState> {
    return storedState(this.#session, this.id, "Job.getState");
  }

  /** @throws as {@link getState}. */
  async isCompleted(): Promise<boolean> {
    return (await this.getState()) === "completed";
  }

  /** @throws as {@link getState}. */
  async isFailed(): Promise<boolean> {
    return (await this.getState()) === "failed";
  }

  /** @throws as {@link getState}. */
  async isActive(): Promise<boolean> {
    return (await this.getState()) === "active";
  }

  /** @throws as {@link getState}. */
  async isDelayed(): Promise<boolean> {
    return (await this.getState()) === "delayed";
  }

  /**
   * True while it stands in line without a priority.
   * @throws as {@link getState}.
   */
  async isWaiting(): Promise<boolean> {
    return (await this.getState()) === "waiting";
  }

  /**
   * Waits for the job to end, `timeout` ms at most, and resolves to its result.
   * @throws ValidationError for events of another queue or without a timeout; `EchoMQError`
   * `WAIT_TIMEOUT`, `JOB_FAILED` with the reason as its message, `JOB_REMOVED`, `RESULT_GONE`, or
   * `CLOSED` when the events are closed meanwhile; `FenceError` or `ServerError`.
   */
  async waitUntilFinished(events: WaitOptions["events"], timeout: number): Promise<Result> {
    const wait = checkWait(this.queueName, events, timeout, "Job.waitUntilFinished");
    return (await waitUntilFinished(this.#session, this.id, wait)) as Result;
  }

  /**
   * Removes the job, in any state but active; one that is gone already is no error.
   * @throws WireError `EMQSTATE` for an active job; `FenceError` or `ServerError`.
   */
  async remove(): Promise<void> {
    await removeJob(this.#session, this.id, "Job.remove");
  }

  /**
   * Puts a failed job, or a completed one, back in line, behind all others of its priority. Its result
   * or reason goes; attempts and stalls count on unless `resetAttempts`.
   * @throws ValidationError; `WireError` `EMQSTATE` when it is not in that state, `EMQMISSING` when it is
   * gone; `FenceError` or `ServerError`.
   */
  retry(state?: RetryState, options?: RetryOptions): Promise<void> {
    return retryJob(this.#session, this.id, state, options);
  }

  /**
   * Moves a delayed job to the back of its line now.
   * @throws WireError `EMQSTATE` when it is not delayed, `EMQMISSING` when it is gone; `FenceError` or
   * `ServerError`.
   */
  promote(): Promise<void> {
    return promoteJob(this.#session, this.id);
  }

  /**
   * Gives a delayed job another delay, in ms from now by the server's clock.
   * @throws ValidationError; otherwise as {@link promote}.
   */
  changeDelay(delay: number): Promise<void> {
    return changeDelay(this.#session, this.id, delay);
  }

  /**
   * Gives a job in line another priority: behind all others of it, or ahead with `lifo`. A delayed job
   * takes it when it is due.
   * @throws ValidationError; `WireError` `EMQSTATE` when it is neither in line nor delayed, `EMQMISSING`
   * when it is gone; `FenceError` or `ServerError`.
   */
  changePriority(options: ChangePriorityOptions): Promise<void> {
    return changePriority(this.#session, this.id, options);
  }

  /**
   * Frees the job's deduplication id if this job holds it; true when it did.
   * @throws FenceError or ServerError.
   */
  async removeDeduplicationKey(): Promise<boolean> {
    if (this.deduplicationId === undefined) return false;
    const op = "Job.removeDeduplicationKey";
    return removeDeduplicationKey(this.#session, this.deduplicationId, this.id, op);
  }

  /**
   * Says that the job must end, as `Queue.cancel` does.
   * @throws as `Queue.cancel`.
   */
  cancel(reason?: string): Promise<void> {
    return cancelJob(this.#session, this.id, reason, "Job.cancel");
  }

  /**
   * Replaces the data, in any state.
   * @throws ValidationError; `WireError` `EMQMISSING` when the job is gone, `EMQSTALE` when its own run
   * writes and has lost its lease; `FenceError` or `ServerError`.
   */
  async updateData(data: Data): Promise<void> {
    const text = await updateData(this.#session, this.#target, data);
    this.data = readPayload(null, this.#session.codec, text) as Data;
  }

  /**
   * Notes how far the job is, a number or any JSON, and tells it as an event.
   * @throws as {@link updateData}.
   */
  async updateProgress(progress: unknown): Promise<void> {
    this.progress = fromJson(await updateProgress(this.#session, this.#target, progress));
  }

  /**
   * Appends a line of at most 64 KB to the job's log and resolves to how many there are; the last 1 000
   * stay, or as many as the option `keepLogs` says. Not sent again when its answer was lost.
   * @throws as {@link updateData}.
   */
  log(line: string): Promise<number> {
    return log(this.#session, this.#target, line, this.opts.keepLogs);
  }

  /**
   * Lines of the job's log, as `Queue.getJobLogs`.
   * @throws as `Queue.getJobLogs`.
   */
  getLogs(start?: number, end?: number, asc?: boolean): Promise<JobLogs> {
    return getJobLogs(this.#session, this.id, start, end, asc);
  }

  /**
   * In its own handler: puts the job off until a time of this machine's clock, once the handler ends by
   * returning or with `DelayedError`. Any other error still fails the attempt. No attempt is counted.
   * @throws ValidationError; `EchoMQError` `EMQSTATE` for a job that does not run here, `EMQSTALE` for
   * another token than the run's; the run's own end, such as `LeaseLostError`.
   */
  async moveToDelayed(timestamp: number | Date, token?: string): Promise<void> {
    const delay = delayUntil(timestamp);
    await moveRun(this.#run, { to: "delayed", delay }, token, this.#about("Job.moveToDelayed"));
  }

  /**
   * In its own handler: puts the job back in line, behind all others of its priority, once the handler
   * ends by returning or with `WaitingError`. No attempt is counted.
   * @throws as {@link moveToDelayed}.
   */
  async moveToWait(token?: string): Promise<void> {
    await moveRun(this.#run, { to: "wait" }, token, this.#about("Job.moveToWait"));
  }

  #about(op: string): { readonly op: string; readonly queue: string; readonly jobId: string } {
    return { op, queue: this.queueName, jobId: this.id };
  }

  get #target(): { readonly id: string; readonly token: string } {
    return { id: this.id, token: this.#token };
  }

  toJSON(): Record<string, unknown> {
    return Object.fromEntries(Object.entries(this));
  }
}

function optional(text: string | undefined): number | undefined {
  const value = numberOf(text, Number.NaN);
  return Number.isNaN(value) ? undefined : value;
}

/** How a run ended, for the job its listeners get. */
export interface RunEnd {
  readonly attemptsMade: number;
  readonly finishedOn: number | undefined;
  readonly returnvalue?: unknown;
  readonly failedReason?: string;
  readonly stacktrace?: readonly string[];
}

/** Writes into the job of a handler how its run ended; false when the handler has made that impossible. */
export function markEnd(job: object, end: RunEnd): boolean {
  try {
    Object.assign(job, end);
    return true;
  } catch {
    return false;
  }
}

/** Stored stacks, whatever was stored. */
export function stackOf(text: string | undefined): readonly string[] {
  const list = fromJson(text);
  return Array.isArray(list) ? list.filter((line) => typeof line === "string") : [];
}
