/** Payload and result of one kind of job. */
export interface JobShape {
  readonly data: unknown;
  readonly result: unknown;
}

/** Kinds of jobs of a queue by name: `Queue<{ mail: { data: Mail; result: Receipt } }>`. */
export type JobMap = { readonly [name: string]: JobShape };

/**
 * What a job map must be, each name with its {@link JobShape}. Written over the map's own names, so that an
 * `interface` may be one too: `function report<M extends JobMapOf<M>>(queue: Queue<M>)`.
 */
export type JobMapOf<M> = { readonly [N in keyof M]: JobShape };

/** Names of a job map. */
export type JobName<M> = Extract<keyof M, string>;

/** Data of the job `N`. */
export type DataOf<M, N extends keyof M> = M[N] extends { readonly data: infer D } ? D : never;

/** Result of the job `N`. */
export type ResultOf<M, N extends keyof M> = M[N] extends { readonly result: infer R } ? R : never;

/**
 * Where a job stands: `held` while deduplication keeps it back, `unknown` where there is no such job.
 */
export type JobState =
  | "waiting"
  | "prioritized"
  | "delayed"
  | "active"
  | "completed"
  | "failed"
  | "waiting-children"
  | "held"
  | "unknown";

/** How many jobs stand in each state. `held` are those that deduplication keeps back. */
export interface JobCounts {
  readonly waiting: number;
  readonly prioritized: number;
  readonly delayed: number;
  readonly active: number;
  readonly completed: number;
  readonly failed: number;
  readonly "waiting-children": number;
  readonly held: number;
}
