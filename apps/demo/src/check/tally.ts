import type { StoryJob } from "../work/cast.js";
import type { Verdict } from "./verdict.js";

/** A job that is lost or wrong. */
interface Problem {
  readonly job: string;
  readonly why: string;
}

/** All verdicts together. */
export interface Tally {
  readonly right: number;
  readonly failedAsExpected: number;
  readonly lost: readonly Problem[];
  readonly wrong: readonly Problem[];
  /** Jobs on the v2 wire that the story never added. */
  readonly extra: number;
}

/** Adds verdicts up; `standing` is how many jobs the queue holds in all states. */
export function tally(
  judged: readonly { readonly job: StoryJob; readonly verdict: Verdict }[],
  standing: number,
): Tally {
  const problems = { lost: [] as Problem[], wrong: [] as Problem[] };
  const count = { right: 0, "failed as expected": 0 };
  for (const { job, verdict } of judged) {
    if (verdict.kind === "lost" || verdict.kind === "wrong") {
      problems[verdict.kind].push({ job: `${job.id} (${job.task.path})`, why: verdict.why });
    } else count[verdict.kind] += 1;
  }
  return {
    right: count.right,
    failedAsExpected: count["failed as expected"],
    lost: problems.lost,
    wrong: problems.wrong,
    extra: Math.max(0, standing - judged.length),
  };
}

/** How the demo ends: its last line and its exit status. */
export interface Ending {
  readonly line: string;
  readonly exit: 0 | 1;
}

/** The ending that a tally leads to. */
export function endingOf(
  counts: { readonly jobs: number; readonly migrated: number; readonly onV2: number },
  { lost, wrong, extra }: Tally,
): Ending {
  const parts = [
    `${counts.jobs} jobs`,
    `${counts.migrated} migrated`,
    `${counts.onV2} processed on v2`,
    `${lost.length} lost`,
    ...(wrong.length > 0 ? [`${wrong.length} wrong`] : []),
    ...(extra > 0 ? [`${extra} too many`] : []),
  ];
  const bad = lost.length + wrong.length + extra > 0;
  return { line: `demo: ${parts.join(", ")}`, exit: bad ? 1 : 0 };
}
