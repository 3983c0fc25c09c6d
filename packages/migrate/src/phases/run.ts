import type { Context } from "../context.js";
import { nothingHere } from "../elsewhere.js";
import { located } from "../stamps.js";
import { type CommitOptions, type CommitReport, commit } from "./commit.js";
import { type CopyReport, copy } from "./copy.js";
import { type DrainOptions, type DrainReport, drain } from "./drain.js";
import { type FenceOptions, type FenceReport, fence } from "./fence.js";
import { type PlanReport, plan } from "./plan.js";
import { type VerifyReport, verify } from "./verify.js";

/** Options of `run`. */
export interface RunOptions
  extends CommitOptions,
    DrainOptions,
    Pick<FenceOptions, "allowConnected"> {
  /** Told the report of each phase as it ends. */
  readonly onReport?: (report: PhaseReport) => void;
}

/** Report of one phase that `run` walks. */
export type PhaseReport =
  | PlanReport
  | DrainReport
  | FenceReport
  | CopyReport
  | VerifyReport
  | CommitReport;

/** Report of `run`. */
export interface RunReport {
  readonly phase: "run";
  readonly queue: string;
  readonly run: string;
  readonly jobs: number;
  readonly reports: readonly PhaseReport[];
}

/**
 * Walks plan, drain, fence, copy, verify and commit. A run that was stopped goes on where it stood.
 * @throws MigrationError what the phase that refused throws.
 */
export async function runAll(ctx: Context, options: RunOptions = {}): Promise<RunReport> {
  const reports: PhaseReport[] = [];
  const done = <R extends PhaseReport>(report: R): R => {
    reports.push(report);
    options.onReport?.(report);
    return report;
  };
  const at = await located(ctx, "run");
  if (at.state === "empty") throw await nothingHere(ctx, "run");
  let jobs = 0;
  if (at.state !== "done") {
    if (at.state !== "moving") {
      done(await drain(ctx, options));
      const planned = done(await plan(ctx));
      done(await fence(ctx, { ...options, plan: planned }));
    } else {
      done(await fence(ctx, options));
    }
    // A run whose verification stands needs no second copy.
    if (at.phase !== "verified") {
      done(await copy(ctx));
      jobs = done(await verify(ctx)).jobs;
    }
  }
  const { run } = done(await commit(ctx, options));
  return { phase: "run", queue: ctx.queue, run, jobs, reports };
}
