import type { Context, Phase } from "../context.js";
import { nothingHere } from "../elsewhere.js";
import { MigrationError } from "../errors.js";
import { located, overtaken } from "../stamps.js";
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
  readonly onReport?: ((report: PhaseReport) => void) | undefined;
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
  const walk = async <R extends PhaseReport>(phase: Phase, work: () => Promise<R>): Promise<R> => {
    ctx.phase = phase;
    ctx.check();
    const report = await work();
    reports.push(report);
    options.onReport?.(report);
    return report;
  };
  const at = await located(ctx, "run");
  if (at.state === "empty") throw await nothingHere(ctx, "run");
  let jobs = 0;
  if (at.state !== "done") {
    if (at.state !== "moving") {
      await walk("drain", () => drain(ctx, options));
      const planned = await walk("plan", () => plan(ctx));
      await walk("fence", () => fence(ctx, { ...options, plan: planned }));
    } else {
      // It stands already: whoever stops here leaves what a copy leaves.
      await walk("copy", () => fence(ctx, options));
    }
    // A run whose verification stands needs no second copy.
    if (at.phase !== "verified") {
      await walk("copy", () => copy(ctx));
      jobs = (await walk("verify", () => verify(ctx))).jobs;
    }
  }
  const { run } = await walk("commit", () => commit(ctx, options).catch(toldOfAnother(ctx)));
  return { phase: "run", queue: ctx.queue, run, jobs, reports };
}

/** What this call had verified itself, another process of the run has begun to verify anew. */
function toldOfAnother(ctx: Context): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof MigrationError) || error.reason !== "NOT_VERIFIED") throw error;
    throw overtaken(ctx, "commit", "it verifies anew");
  };
}
