import type { DriverName } from "../options.js";

/** What every child is told: where its queue is. */
interface Place {
  readonly url: string;
  readonly queue: string;
  /** Root of the workspace, which paths of files are relative to. */
  readonly root: string;
}

/** Task of the v1 worker: take about `quota` jobs, then stop to take more. */
export interface V1WorkerTask extends Place {
  readonly concurrency: number;
  readonly quota: number;
}

/** Task of a v2 worker. Times in ms. */
export interface V2WorkerTask extends Place {
  readonly driver: DriverName;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly sweepMs: number;
}

/** Task of the v1 producer: try to add one job. */
export type V1ProducerTask = Place;

/** What the parent says. */
export type ToChild<Task> =
  | { readonly type: "start"; readonly task: Task }
  | { readonly type: "stop" };

/** What a child says. */
export type FromChild =
  | { readonly type: "loaded" }
  /** Ids of jobs whose end is written. */
  | { readonly type: "ended"; readonly completed: string[]; readonly failed: string[] }
  /** A job that takes its time has begun; `held` jobs are in this worker's hands. */
  | { readonly type: "slow"; readonly id: string; readonly path: string; readonly held: number }
  /** The worker takes no more, and all but the job that takes its time have ended. */
  | { readonly type: "full" }
  /** A job of a dead worker was put back in line. */
  | { readonly type: "recovered"; readonly id: string }
  /** How the server answered the producer. */
  | { readonly type: "answer"; readonly accepted: boolean; readonly text: string }
  /** Nothing more comes from this child. */
  | { readonly type: "done" }
  | { readonly type: "trouble"; readonly text: string };
