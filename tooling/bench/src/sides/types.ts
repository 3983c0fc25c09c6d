import type { Variant } from "../cases.js";

/** Which library works. */
export type SideName = "ours" | "peer";

/** One job to add. */
export interface BenchJob {
  readonly name: string;
  readonly data: { readonly n: number; readonly text: string };
}

/** How a worker is opened. It crosses to another process as JSON. */
export interface WorkerSpec {
  readonly port: number;
  readonly queue: string;
  readonly concurrency: number;
  /** Keeps every completed job; else removes it at once. */
  readonly keep: boolean;
  /** Looks for stalled jobs as it does by default; else never. */
  readonly sweep: boolean;
  /** Left out where our worker has no such option. */
  readonly claimAhead?: 0 | "auto";
}

/** What a worker tells. */
export interface WorkerEars {
  started(n: number): void;
  completed(): void;
  trouble(error: unknown): void;
}

export interface BenchWorker {
  close(): Promise<void>;
}

/** What the benchmark needs of a queue of either library. */
export interface BenchQueue {
  ready(): Promise<void>;
  add(job: BenchJob): Promise<unknown>;
  addBulk(jobs: BenchJob[]): Promise<unknown>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Sets the queue's global concurrency. */
  limit(active: number): Promise<void>;
  /** Takes waiting jobs and leaves them active under long leases, as busy workers elsewhere would. */
  hold(jobs: number): Promise<void>;
  close(): Promise<void>;
}

export interface Side {
  openQueue(port: number, queue: string): BenchQueue;
  /** Resolves once the worker is connected and claims. */
  openWorker(spec: WorkerSpec, ears: WorkerEars): Promise<BenchWorker>;
}

/** One of the runs a round makes: a side, and how our worker is set. */
export type Contender = "peer" | Variant;

export function sideOf(contender: Contender): SideName {
  return contender === "peer" ? "peer" : "ours";
}
