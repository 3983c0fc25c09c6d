/** Counters, all in jobs. */
export type TelemetryCounter =
  | "echomq.jobs.added"
  | "echomq.jobs.duplicated"
  | "echomq.jobs.completed"
  | "echomq.jobs.failed"
  | "echomq.jobs.retried"
  | "echomq.jobs.moved"
  | "echomq.jobs.released"
  | "echomq.jobs.lost"
  | "echomq.jobs.stalled";

/** Durations, all in seconds. */
export type TelemetryHistogram =
  | "messaging.client.operation.duration"
  | "messaging.process.duration"
  | "echomq.job.wait";

/** What a metric is. */
export interface TelemetryMetric {
  /** As OpenTelemetry writes units: `{job}` or `s`. */
  readonly unit: "{job}" | "s";
  readonly description: string;
}

/** Every metric that a queue or a worker knows. */
export const TELEMETRY_METRICS: Readonly<
  Record<TelemetryCounter | TelemetryHistogram, TelemetryMetric>
> = {
  "echomq.jobs.added": { unit: "{job}", description: "Jobs added" },
  "echomq.jobs.duplicated": {
    unit: "{job}",
    description: "Jobs not added because another of their id or deduplication id stood",
  },
  "echomq.jobs.completed": { unit: "{job}", description: "Jobs completed" },
  "echomq.jobs.failed": { unit: "{job}", description: "Jobs failed for good" },
  "echomq.jobs.retried": {
    unit: "{job}",
    description: "Attempts that failed and are followed by another",
  },
  "echomq.jobs.moved": {
    unit: "{job}",
    description: "Runs that put their job off or back in line",
  },
  "echomq.jobs.released": { unit: "{job}", description: "Runs given back to the head of the line" },
  "echomq.jobs.lost": { unit: "{job}", description: "Runs whose lease was lost" },
  "echomq.jobs.stalled": {
    unit: "{job}",
    description: "Jobs put back in line because their worker was gone",
  },
  "messaging.client.operation.duration": { unit: "s", description: "Duration of an add" },
  "messaging.process.duration": { unit: "s", description: "Duration of a handler's run" },
  "echomq.job.wait": {
    unit: "s",
    description: "Time from when a job was due to the claim of its first run",
  },
};
