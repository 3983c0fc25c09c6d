import { EchoMQError } from "@echomq/wire";

/** Why a run lost its lease. */
export type LeaseLoss = "expired" | "stolen" | "removed";

/** The run's lease is gone; nothing it does is written any more. */
export class LeaseLostError extends EchoMQError {
  override readonly name: string = "LeaseLostError";
  readonly loss: LeaseLoss;
  readonly jobId: string;

  constructor(jobId: string, loss: LeaseLoss) {
    super({
      code: "LEASE_LOST",
      message: `job ${jobId}: the lease was lost (${MEANING[loss]})`,
      op: "run",
    });
    this.loss = loss;
    this.jobId = jobId;
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

  constructor() {
    super({
      code: "WORKER_CLOSING",
      message: "the worker closes; the job goes back to the queue",
      op: "close",
    });
  }
}

/** Thrown by a handler to fail its job at once, whatever attempts are left. */
export class UnrecoverableError extends Error {
  override readonly name: string = "UnrecoverableError";
}
