import type { LazySession } from "../connection/lazy.js";
import { type DoctorOptions, type DoctorReport, doctor } from "../doctor/doctor.js";
import { WithKinds } from "../job/kinds.js";
import type { JobCounts, JobMap, JobMapOf, JobState } from "../job/types.js";
import type { AnyJob } from "../worker/types.js";
import { getCountsPerPriority, getJobCounts, sumOfCounts } from "./verbs/counts.js";
import { getJobState, getJobs } from "./verbs/jobs.js";
import { getJobLogs, type JobLogs } from "./verbs/logs.js";
import { exportPrometheusMetrics, getMetrics, type Metrics } from "./verbs/metrics.js";
import type { JobStateName } from "./verbs/states.js";
import { getWorkers, getWorkersCount, type WorkerInfo } from "./verbs/workers.js";

/**
 * What a queue tells about itself. Each method may throw `FenceError`, or `ServerError` for the server's
 * or the connection's own trouble; `ValidationError` before anything is sent. None creates anything: a
 * queue that does not exist looks empty.
 */
export abstract class QueueGetters<M extends JobMapOf<M> = JobMap> extends WithKinds<M> {
  readonly #lazy: LazySession;

  constructor(lazy: LazySession) {
    super();
    this.#lazy = lazy;
  }

  /**
   * Jobs of some states (all where none is named), each state from place `start` to place `end`, both
   * included, -1 for the last. Newest first unless `asc`. Jobs that go meanwhile are left out.
   * @throws ValidationError naming `states`, `start`, `end` or `asc`.
   */
  async getJobs(
    states?: JobStateName | readonly JobStateName[],
    start?: number,
    end?: number,
    asc?: boolean,
  ): Promise<AnyJob<M>[]> {
    const jobs = await getJobs(this.#lazy, states, start, end, asc, "Queue.getJobs");
    return jobs as unknown as AnyJob<M>[];
  }

  /** Jobs in line without a priority, the next to run first. */
  getWaiting(start?: number, end?: number): Promise<AnyJob<M>[]> {
    return this.getJobs("waiting", start, end, true);
  }

  /** Jobs in line with a priority, the next to run first. */
  getPrioritized(start?: number, end?: number): Promise<AnyJob<M>[]> {
    return this.getJobs("prioritized", start, end, true);
  }

  /** Delayed jobs, the next due first. */
  getDelayed(start?: number, end?: number): Promise<AnyJob<M>[]> {
    return this.getJobs("delayed", start, end, true);
  }

  /** Running jobs, the one whose lease ends next first. */
  getActive(start?: number, end?: number): Promise<AnyJob<M>[]> {
    return this.getJobs("active", start, end, true);
  }

  /** Completed jobs, the last one first. */
  getCompleted(start?: number, end?: number): Promise<AnyJob<M>[]> {
    return this.getJobs("completed", start, end, false);
  }

  /** Failed jobs, the last one first. */
  getFailed(start?: number, end?: number): Promise<AnyJob<M>[]> {
    return this.getJobs("failed", start, end, false);
  }

  /** Jobs that deduplication keeps back until the one that runs has ended, the longest first. */
  getHeld(start?: number, end?: number): Promise<AnyJob<M>[]> {
    return this.getJobs("held", start, end, true);
  }

  /** How many jobs stand in each state, counted in one step; of all states where none is named. */
  getJobCounts(): Promise<JobCounts>;
  getJobCounts<S extends JobStateName>(...states: readonly S[]): Promise<Record<S, number>>;
  getJobCounts(...states: readonly JobStateName[]): Promise<Record<JobStateName, number>> {
    return getJobCounts(this.#lazy, states, "Queue.getJobCounts");
  }

  /** How many jobs stand in some states together. */
  getJobCountByTypes(...states: readonly JobStateName[]): Promise<number> {
    return sumOfCounts(this.#lazy, states, "Queue.getJobCountByTypes");
  }

  /** How many jobs wait to run: in line, delayed, or for their children; not those that are held. */
  count(): Promise<number> {
    return this.getJobCountByTypes("waiting", "prioritized", "delayed", "waiting-children");
  }

  getWaitingCount(): Promise<number> {
    return this.getJobCountByTypes("waiting");
  }

  getPrioritizedCount(): Promise<number> {
    return this.getJobCountByTypes("prioritized");
  }

  getDelayedCount(): Promise<number> {
    return this.getJobCountByTypes("delayed");
  }

  getActiveCount(): Promise<number> {
    return this.getJobCountByTypes("active");
  }

  getCompletedCount(): Promise<number> {
    return this.getJobCountByTypes("completed");
  }

  getFailedCount(): Promise<number> {
    return this.getJobCountByTypes("failed");
  }

  getHeldCount(): Promise<number> {
    return this.getJobCountByTypes("held");
  }

  /**
   * How many jobs are in line of each priority named; 0 counts those without one.
   * @throws ValidationError naming the priority.
   */
  getCountsPerPriority(priorities: readonly number[]): Promise<Record<string, number>> {
    return getCountsPerPriority(this.#lazy, priorities);
  }

  /**
   * Where a job stands; `unknown` where there is none.
   * @throws ValidationError for an id that cannot be one.
   */
  getJobState(id: string): Promise<JobState> {
    return getJobState(this.#lazy, id);
  }

  /**
   * Log lines of a job from place `start` to place `end`, both included, -1 for the last; oldest first
   * unless `asc` is false. `count` is how many there are in all.
   * @throws ValidationError naming `id`, `start`, `end` or `asc`.
   */
  getJobLogs(id: string, start?: number, end?: number, asc?: boolean): Promise<JobLogs> {
    return getJobLogs(this.#lazy, id, start, end, asc);
  }

  /**
   * Jobs completed or failed per full minute, newest first, from `start` to `end`, both included, -1 for
   * the last. Counted by workers that have the option `metrics`.
   * @throws ValidationError naming `type`, `start` or `end`.
   */
  getMetrics(type: "completed" | "failed", start?: number, end?: number): Promise<Metrics> {
    return getMetrics(this.#lazy, type, start, end);
  }

  /**
   * The counts of every state, and the totals of {@link getMetrics}, in the text format of Prometheus.
   * @throws ValidationError naming the label.
   */
  exportPrometheusMetrics(labels?: Readonly<Record<string, string>>): Promise<string> {
    return exportPrometheusMetrics(this.#lazy, labels);
  }

  /** Workers of the queue heard of in the last 60 s. */
  getWorkers(): Promise<WorkerInfo[]> {
    return getWorkers(this.#lazy);
  }

  /** How many workers of the queue were heard of in the last 60 s. */
  getWorkersCount(): Promise<number> {
    return getWorkersCount(this.#lazy);
  }

  /**
   * Looks for what is broken in the queue's structures, and with `fix` mends it step by step. It may run
   * while workers work: each finding was seen again in one step, twice.
   * @throws ValidationError naming the option.
   */
  doctor(options?: DoctorOptions): Promise<DoctorReport> {
    return doctor(this.#lazy, options);
  }
}
