export type {
  ConnectionOption,
  ConnectionOptions,
  IoredisLike,
  NodeRedisLike,
  ServerAddress,
} from "./connection/types.js";
export type { DoctorOptions, DoctorReport, Finding, FindingKind } from "./doctor/report.js";
export { FINDINGS } from "./doctor/report.js";
export { QueueEventsProducer } from "./events/producer.js";
export { QueueEvents } from "./events/queue-events.js";
export type {
  CustomEvents,
  EventGap,
  QueueEventPayloads,
  QueueEventsMap,
  QueueEventsOptions,
} from "./events/types.js";
export type { WaitOptions } from "./events/wait.js";
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
export { QueueGetters } from "./queue/getters.js";
export type { QueueOptions } from "./queue/options.js";
export type { BulkJob } from "./queue/queue.js";
export { Queue } from "./queue/queue.js";
export type { JobLogs } from "./queue/verbs/jobs.js";
export type { Metrics } from "./queue/verbs/metrics.js";
export type { JobStateName } from "./queue/verbs/states.js";
export type { WorkerInfo } from "./queue/verbs/workers.js";
export type { LeaseLoss } from "./worker/errors.js";
export { LeaseLostError, UnrecoverableError, WorkerClosingError } from "./worker/errors.js";
export type { WorkerOptions } from "./worker/options.js";
export type { AnyJob, Handler, JobContext, WorkerEvents } from "./worker/types.js";
export type { CloseOptions } from "./worker/worker.js";
export { Worker } from "./worker/worker.js";
