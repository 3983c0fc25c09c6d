import type { RedisDriver } from "@echomq/scripts";
import type { Life } from "./driver.js";

/** How a run ends. */
export type How = "complete" | "fail" | "fatal" | "later" | "back" | "release" | "doomed";

/** A run that a worker holds, whether its lease still stands or not. */
export interface HeldRun {
  readonly id: string;
  readonly token: string;
}

export interface End {
  readonly run: HeldRun;
  readonly how: How;
  /** Result, or reason. */
  readonly text: string;
  /** For `later`, in ms. */
  readonly delay: number;
}

/** Ends that were written in one step, in the order in which they count; false for those refused. */
export type Step = readonly (readonly [end: End, ok: boolean])[];

/** What a claim gave, in order. A doomed job never ran: its verdict or its time to live ended it. */
export interface Claimed {
  readonly run: HeldRun;
  readonly doomed: boolean;
  readonly begun: boolean;
}

/** What was written, and then claimed, and then written for what was doomed. */
export interface Turn {
  /** The lean step was taken, which sees no priorities. */
  readonly lean: boolean;
  readonly before: readonly Step[];
  readonly claimed: readonly Claimed[];
  readonly after: readonly Step[];
}

export interface ClaimHow {
  /** Tries the lean step first. */
  readonly lean: boolean;
  /** Ids declared in advance: their fields come along. */
  readonly guess: readonly string[];
  /** How many of the claimed begin at once. */
  readonly begun: number;
  /** Whether the rest is begun too. */
  readonly begin: boolean;
}

/** A worker that does one thing at a time, and only what it is told. */
export interface ModelWorker {
  readonly runs: readonly HeldRun[];
  /** False for a run that was claimed and never begun: it can only go back. */
  begun(run: HeldRun): boolean;
  /** Ends runs and claims, in one go as far as it goes. */
  turn(ends: readonly End[], count: number, how: ClaimHow): Promise<Turn>;
  /**
   * Moves the end of a lease to `ms` from now. A worker that looks at verdicts too ends a job that must
   * end.
   */
  renew(run: HeldRun, ms: number): Promise<"renewed" | "lost" | "ended">;
  kill(): void;
  close(): Promise<void>;
}

export interface WorkerParts {
  readonly at: number;
  readonly q: string;
  readonly driver: RedisDriver;
  readonly life: Life;
  readonly leaseMs: number;
}
