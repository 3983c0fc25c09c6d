import type { Tally } from "../check/tally.js";
import { perSecond, seconds } from "../view/text.js";
import type { View } from "../view/view.js";
import type { StateCounts } from "./drain.js";
import type { Moved } from "./move.js";
import type { V2Work } from "./work-on-v2.js";

/** Everything the story came to. */
export interface Outcome {
  readonly before: StateCounts;
  readonly after: StateCounts;
  readonly end: StateCounts;
  readonly moved: Moved;
  readonly onV1: number;
  readonly v1Ms: number;
  readonly onV2: number;
  readonly v2: V2Work;
  readonly found: Tally;
  readonly wallMs: number;
}

const STATES = ["waiting", "prioritized", "delayed", "active", "completed", "failed"];

/** The last act: two tables. */
export function summary(view: View, outcome: Outcome): void {
  const { before, after, end, moved, onV1, v1Ms, onV2, v2, found, wallMs } = outcome;
  const sides = [before, after, end];
  view.table([
    ["state", "v1 before", "v2 after the move", "v2 at the end"],
    ...STATES.map((state) => [state, ...sides.map((counts) => String(counts[state] ?? 0))]),
    ["total", ...sides.map((counts) => String(totalOf(counts)))],
  ]);
  view.line("");
  view.table([
    ["migrated", `${moved.jobs}`, perSecond(moved.jobs, moved.ms)],
    ["processed on v1", `${onV1}`, v1Ms > 0 ? perSecond(onV1, v1Ms) : ""],
    ["processed on v2", `${onV2}`, v2.best > 0 ? `best ${v2.best}/s` : ""],
    ["put back after kill -9", `${v2.recovered}`],
    ["results right", `${found.right}`],
    ["failed as expected", `${found.failedAsExpected}`],
    ["lost", `${found.lost.length}`],
    ["wrong", `${found.wrong.length}`],
    ["wall time", seconds(wallMs)],
  ]);
}

function totalOf(counts: StateCounts): number {
  return STATES.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
}
