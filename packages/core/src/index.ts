export type {
  ConnectionOption,
  ConnectionOptions,
  IoredisLike,
  NodeRedisLike,
  ServerAddress,
} from "./connection/types.js";
export { Job } from "./job/job.js";
export type {
  DataOf,
  JobCounts,
  JobMap,
  JobName,
  JobShape,
  JobState,
  ResultOf,
} from "./job/types.js";
export type { Backoff } from "./options/backoff.js";
export type { JobOptions } from "./options/job-options.js";
export type { Retention } from "./options/retention.js";
export type { QueueOptions } from "./queue/options.js";
export type { BulkJob } from "./queue/queue.js";
export { Queue } from "./queue/queue.js";
export type { LeaseLoss } from "./worker/errors.js";
export { LeaseLostError, UnrecoverableError, WorkerClosingError } from "./worker/errors.js";
export type { WorkerOptions } from "./worker/options.js";
export type { AnyJob, Handler, JobContext, WorkerEvents } from "./worker/types.js";
export type { CloseOptions } from "./worker/worker.js";
export { Worker } from "./worker/worker.js";
