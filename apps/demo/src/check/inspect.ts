import type { Queue } from "@echomq/core";
import type { StoryJob } from "../work/cast.js";
import type { DemoJobs } from "../work/connect.js";
import type { FileFacts } from "../work/measure.js";
import { directFacts } from "./direct.js";
import { type Tally, tally } from "./tally.js";
import { type FoundJob, judge, type Verdict } from "./verdict.js";

const TOGETHER = 100;

/** What an inspection needs. */
export interface Inspection {
  readonly queue: Queue<DemoJobs>;
  readonly jobs: readonly StoryJob[];
  /** Root of the workspace. */
  readonly root: string;
  readonly onProgress?: (done: number) => void;
}

/**
 * Reads every job back through the v2 API and compares its result with a direct computation.
 * @throws FenceError or ServerError when the queue cannot be read.
 */
export async function inspect({ queue, jobs, root, onProgress }: Inspection): Promise<Tally> {
  const judged: { job: StoryJob; verdict: Verdict }[] = [];
  for (let at = 0; at < jobs.length; at += TOGETHER) {
    const some = jobs.slice(at, at + TOGETHER);
    const verdicts = await Promise.all(
      some.map(async (job) => judge(job, await find(queue, job.id), await factsOf(root, job))),
    );
    judged.push(...verdicts.map((verdict, n) => ({ job: some[n] as StoryJob, verdict })));
    onProgress?.(judged.length);
  }
  const counts = await queue.getJobCounts();
  return tally(
    judged,
    Object.values(counts).reduce((sum, count) => sum + count, 0),
  );
}

async function find(queue: Queue<DemoJobs>, id: string): Promise<FoundJob> {
  const job = await queue.getJob<"measure">(id);
  if (job === null) return { state: "gone" };
  const state = await job.getState();
  return { state, result: job.returnvalue, failedReason: job.failedReason };
}

async function factsOf(root: string, { task, expect }: StoryJob): Promise<FileFacts | null> {
  if (expect === "failure") return null;
  return directFacts(root, task.path).catch(() => null);
}
