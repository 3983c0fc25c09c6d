import type {
  AdvancedOptions,
  Backoff,
  ChangePriorityOptions,
  CloseOptions,
  ConnectionOptions,
  Deduplication,
  DoctorOptions,
  JobOptions,
  Limiter,
  NextJobOptions,
  ObliterateOptions,
  PromoteJobsOptions,
  QueueEventsOptions,
  QueueOptions,
  RedriveOptions,
  Retention,
  RetryJobsOptions,
  RetryOptions,
  ServerAddress,
  ThreadLimits,
  WorkerOptions,
} from "@echomq/core";
import type { DrainOptions } from "@echomq/core/testing";

/** Names of properties that may be left out and yet refuse `undefined`. */
type Refusing<T> = {
  [K in keyof T]-?: object extends Pick<T, K>
    ? undefined extends Required<T>[K]
      ? never
      : K
    : never;
}[keyof T];

/** Has no property to name. */
type Lenient<T> = { readonly [K in Refusing<T>]: "must take undefined too" };

/** An option that is `undefined` is not given: whoever passes one on need not leave it out. */
export function options(): void {
  ({}) satisfies Lenient<AdvancedOptions>;
  ({}) satisfies Lenient<Backoff>;
  ({}) satisfies Lenient<ChangePriorityOptions>;
  ({}) satisfies Lenient<CloseOptions>;
  ({}) satisfies Lenient<ConnectionOptions>;
  ({}) satisfies Lenient<Deduplication>;
  ({}) satisfies Lenient<DoctorOptions>;
  ({}) satisfies Lenient<DrainOptions>;
  ({}) satisfies Lenient<JobOptions>;
  ({}) satisfies Lenient<Limiter>;
  ({}) satisfies Lenient<NextJobOptions>;
  ({}) satisfies Lenient<ObliterateOptions>;
  ({}) satisfies Lenient<PromoteJobsOptions>;
  ({}) satisfies Lenient<QueueEventsOptions>;
  ({}) satisfies Lenient<QueueOptions>;
  ({}) satisfies Lenient<RedriveOptions>;
  ({}) satisfies Lenient<Extract<Retention, object>>;
  ({}) satisfies Lenient<RetryJobsOptions>;
  ({}) satisfies Lenient<RetryOptions>;
  ({}) satisfies Lenient<ServerAddress>;
  ({}) satisfies Lenient<ThreadLimits>;
  ({}) satisfies Lenient<WorkerOptions>;
  ({ connection: "redis://x", commandTimeout: undefined }) satisfies QueueOptions;
  ({ connection: { host: "x", port: undefined }, concurrency: undefined }) satisfies WorkerOptions;
  ({ delay: undefined, deduplication: { id: "x", ttl: undefined } }) satisfies JobOptions;
  ({ count: undefined, age: 1 }) satisfies Retention;
}
