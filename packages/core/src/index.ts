export type { ErrorCode, FenceCode, LocalCode, ServerCode, WireCode } from "@echomq/wire";
export {
  ConfigError,
  EchoMQError,
  FenceError,
  isEchoMQError,
  ServerError,
  ValidationError,
  WireError,
} from "@echomq/wire";
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
  CustomEventsOf,
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
  JobMapOf,
  JobName,
  JobShape,
  JobState,
  ResultOf,
} from "./job/types.js";
export type { Backoff } from "./options/backoff.js";
export type { DeadLetter } from "./options/dead-letter.js";
export type { Deduplication } from "./options/deduplication.js";
export type { JobOptions } from "./options/job-options.js";
export type { Retention } from "./options/retention.js";
export type { SchemaIssue, SchemaResult, StandardSchemaV1 } from "./options/schema.js";
export { SchemaError } from "./options/schema.js";
export type { Serializer } from "./options/serializer.js";
export { QueueAdmin } from "./queue/admin.js";
export { QueueGetters } from "./queue/getters.js";
export { QueueLimits } from "./queue/limits.js";
export type { EventStreamOptions, QueueOptions, StreamsOptions } from "./queue/options.js";
export type { AddedJobs, BulkJob } from "./queue/queue.js";
export { Queue } from "./queue/queue.js";
export type { ChangePriorityOptions } from "./queue/verbs/change.js";
export type { CleanType } from "./queue/verbs/clean.js";
export type { RateLimit } from "./queue/verbs/limits.js";
export type { JobLogs } from "./queue/verbs/logs.js";
export type { Metrics } from "./queue/verbs/metrics.js";
export type { ObliterateOptions } from "./queue/verbs/obliterate.js";
export type { PromoteJobsOptions } from "./queue/verbs/promote.js";
export type { RedriveOptions } from "./queue/verbs/redrive.js";
export type { RetryJobsOptions, RetryOptions, RetryState } from "./queue/verbs/retry.js";
export type { JobStateName } from "./queue/verbs/states.js";
export type { WorkerInfo } from "./queue/verbs/workers.js";
export type {
  TelemetryCounter,
  TelemetryHistogram,
  TelemetryMetric,
} from "./telemetry/metrics.js";
export { TELEMETRY_METRICS } from "./telemetry/metrics.js";
export type {
  SpanEnd,
  SpanError,
  SpanStart,
  Telemetry,
  TelemetryAttributes,
  TelemetrySpan,
  TraceContext,
} from "./telemetry/types.js";
export type { AdvancedOptions, BackoffStrategy } from "./worker/backoff.js";
export type { LeaseLoss } from "./worker/errors.js";
export {
  CancelledError,
  DelayedError,
  ExpiredError,
  JobTimeoutError,
  LeaseLostError,
  RateLimitError,
  SandboxError,
  UnrecoverableError,
  WaitingError,
  WorkerClosingError,
} from "./worker/errors.js";
export type { Processor } from "./worker/handler.js";
export { ManualJob } from "./worker/manual-job.js";
export type { ClaimAhead, Limiter, ThreadLimits, WorkerOptions } from "./worker/options.js";
export type {
  AnyJob,
  AnyManualJob,
  CloseOptions,
  Handler,
  JobContext,
  NextJobOptions,
  WorkerEvents,
} from "./worker/types.js";
export { Worker } from "./worker/worker.js";
