import { EchoMQError } from "@echomq/wire";
import { whole } from "../options/check.js";
import { DELAY_MAX_MS, TIMER_MAX_MS } from "../options/limits.js";

/** Why a run lost its lease. */
export type LeaseLoss = "expired" | "stolen" | "removed";

/** The run's lease is gone; nothing it does is written any more. */
export class LeaseLostError extends EchoMQError {
  override readonly name: string = "LeaseLostError";
  declare readonly jobId: string;
  readonly loss: LeaseLoss;

  constructor(jobId: string, loss: LeaseLoss, queue?: string) {
    const message = `the lease was lost (${MEANING[loss]}); nothing the run does is written any more`;
    super({ code: "LEASE_LOST", message, op: "run", queue, jobId });
    this.loss = loss;
  }
}

const MEANING: Record<LeaseLoss, string> = {
  expired: "it could not be renewed in time",
  stolen: "another run holds it",
  removed: "the job is gone",
};

/** The worker closes before the run has ended; the job is given back to the queue. */
export class WorkerClosingError extends EchoMQError {
  override readonly name: string = "WorkerClosingError";

  constructor(queue?: string) {
    const message = "the worker closes; the job goes back to the queue";
    super({ code: "WORKER_CLOSING", message, op: "Worker.close", queue });
  }
}

/** Somebody cancelled the job; it fails with the reason, whatever its handler does. */
export class CancelledError extends EchoMQError {
  override readonly name: string = "CancelledError";
  declare readonly jobId: string;
  /** What the caller of `cancel` said; may be empty. */
  readonly reason: string;

  constructor(jobId: string, reason: string) {
    super({
      code: "CANCELLED",
      message: reason === "" ? "cancelled" : `cancelled: ${reason}`,
      op: "cancel",
    });
    this.jobId = jobId;
    this.reason = reason;
  }
}

/** The run took longer than its job may; the attempt has failed and what the handler returns is dropped. */
export class JobTimeoutError extends EchoMQError {
  override readonly name: string = "JobTimeoutError";
  declare readonly jobId: string;
  /** How long the run might take, in ms. */
  readonly timeout: number;

  constructor(jobId: string, timeout: number) {
    super({ code: "JOB_TIMEOUT", message: `the run took longer than ${timeout} ms`, op: "run" });
    this.jobId = jobId;
    this.timeout = timeout;
  }
}

/** The job was not begun within its time to live; it has failed without running. */
export class ExpiredError extends EchoMQError {
  override readonly name: string = "ExpiredError";
  declare readonly jobId: string;
  /** How long it might wait, in ms. */
  readonly ttl: number;

  constructor(jobId: string, ttl: number) {
    super({ code: "EXPIRED", message: `expired: not begun within ${ttl} ms`, op: "run" });
    this.jobId = jobId;
    this.ttl = ttl;
  }
}

/** The thread of a sandboxed handler ended before its job did; `cause` is what ended it. */
export class SandboxError extends EchoMQError {
  override readonly name: string = "SandboxError";

  constructor(message: string, cause?: unknown) {
    super({ code: "SANDBOX", message, op: "sandbox", ...(cause === undefined ? {} : { cause }) });
  }
}

/** Thrown by a handler to fail its job at once, whatever attempts are left. */
export class UnrecoverableError extends Error {
  override readonly name: string = "UnrecoverableError";
}

/**
 * Thrown by a handler to put its job off: by `delay` ms, or as `job.moveToDelayed` said before. No
 * attempt is counted.
 */
export class DelayedError extends Error {
  override readonly name: string = "DelayedError";
  /** Ms from now; undefined when `job.moveToDelayed` was called. */
  readonly delay: number | undefined;

  /** @throws ValidationError naming `delay`. */
  constructor(delay?: number) {
    super("the job was put off");
    this.delay = whole("delay", delay, 0, DELAY_MAX_MS);
  }
}

/** Thrown by a handler to put its job back, behind all others of its priority. No attempt is counted. */
export class WaitingError extends Error {
  override readonly name: string = "WaitingError";

  constructor(message = "the job was put back in line") {
    super(message);
  }
}

/**
 * Thrown by a handler to give its job back to the head of the line, uncounted, because of a rate limit:
 * one that `worker.rateLimit` has set, or one of `delay` ms from now.
 */
export class RateLimitError extends Error {
  override readonly name: string = "RateLimitError";
  /** How long the queue starts no job, in ms; undefined when `worker.rateLimit` was called. */
  readonly delay: number | undefined;

  /** @throws ValidationError naming `delay`. */
  constructor(delay?: number) {
    super("the queue is rate limited");
    this.delay = whole("delay", delay, 1, TIMER_MAX_MS);
  }
}
