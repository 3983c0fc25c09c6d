import { getScript } from "@echomq/scripts";
import type { LazySession } from "../connection/lazy.js";
import { checkWait, type WaitOptions, waitUntilFinished } from "../events/wait.js";
import { attemptsMade, countOf, type Fields, numberOf, storedOptions } from "./fields.js";
import { fromJson } from "./payload.js";
import type { JobState } from "./types.js";

/** What a job was when it was read or added. */
export interface JobInit {
  readonly id: string;
  readonly queue: string;
  readonly fields: Fields;
  /** Claim time while it runs, in server ms. */
  readonly claimedAt?: number;
}

/** One job as it was read. It does not follow later changes. */
export class Job<Data = unknown, Result = unknown, Name extends string = string> {
  readonly id: string;
  readonly queueName: string;
  readonly name: Name;
  readonly data: Data;
  /** Options stored with the job. */
  readonly opts: Readonly<Record<string, unknown>>;
  /** When it was added, in server ms. */
  readonly timestamp: number;
  /** Delay it was given or retried with, in ms. */
  readonly delay: number;
  /** 0 for none. */
  readonly priority: number;
  readonly attemptsMade: number;
  readonly attemptsStarted: number;
  /** How often its lease was lost. */
  readonly stalledCounter: number;
  readonly progress: unknown;
  /** Start of the last run, in server ms. */
  readonly processedOn: number | undefined;
  readonly finishedOn: number | undefined;
  readonly returnvalue: Result | undefined;
  readonly failedReason: string | undefined;
  readonly stacktrace: readonly string[];
  readonly #session: LazySession;

  constructor(init: JobInit, session: LazySession) {
    const { fields } = init;
    this.#session = session;
    this.id = init.id;
    this.queueName = init.queue;
    this.name = (fields.name ?? "") as Name;
    this.data = fromJson(fields.data) as Data;
    this.opts = storedOptions(fields);
    this.timestamp = numberOf(fields.timestamp, 0);
    this.delay = numberOf(fields.delay, 0);
    this.priority = numberOf(fields.priority, 0);
    this.attemptsMade = attemptsMade(fields);
    this.attemptsStarted = countOf(fields.ats);
    this.stalledCounter = countOf(fields.stc);
    this.progress = fromJson(fields.progress) ?? 0;
    this.processedOn = init.claimedAt ?? optional(fields.processedOn);
    this.finishedOn = optional(fields.finishedOn);
    this.returnvalue = fromJson(fields.returnvalue) as Result | undefined;
    this.failedReason = fields.failedReason;
    this.stacktrace = stackOf(fields.stacktrace);
  }

  /**
   * Where the job stands now; `unknown` when it is gone.
   * @throws FenceError or ServerError.
   */
  async getState(): Promise<JobState> {
    const session = await this.#session.get("Job.getState");
    const call = { q: session.q, jobs: [this.id], args: {} };
    const reply = await session.read(getScript, call, "Job.getState");
    return (reply?.[0]?.state ?? "unknown") as JobState;
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

  toJSON(): Record<string, unknown> {
    return Object.fromEntries(Object.entries(this));
  }
}

function optional(text: string | undefined): number | undefined {
  const value = numberOf(text, Number.NaN);
  return Number.isNaN(value) ? undefined : value;
}

function stackOf(text: string | undefined): readonly string[] {
  const list = fromJson(text);
  return Array.isArray(list) ? list.filter((line) => typeof line === "string") : [];
}
