import { setTimeout as sleep } from "node:timers/promises";
import type { JobCounts, Queue } from "@echomq/core";
import type { Stage } from "../stage.js";
import { Pace } from "../view/pace.js";
import { plural, seconds } from "../view/text.js";
import type { DemoJobs } from "../work/connect.js";
import { Crew } from "../work/crew.js";

/** What v2 did. */
export interface V2Work {
  readonly ms: number;
  /** Most jobs that ended within one second. */
  readonly best: number;
  /** Jobs that the killed worker held and that were put back in line. */
  readonly recovered: number;
}

const LOOK_EVERY_MS = 100;
/** Without any change for this long, what is left counts as lost. */
const STUCK_MS = 60_000;

/** Act: two EchoMQ workers work off the rest; one of them is killed on the way. */
export async function workOnV2(stage: Stage, queue: Queue<DemoJobs>): Promise<V2Work> {
  const { view, signal } = stage;
  const before = await queue.getJobCounts();
  const open = openOf(before);
  if (open === 0) {
    view.say("nothing is left to do");
    return { ms: 0, best: 0, recovered: 0 };
  }
  const crew = await Crew.hire(stage);
  view.say(`two EchoMQ workers (pids ${crew.pids.join(", ")}), lease ${seconds(crew.leaseMs)}`);
  const progress = view.progress("worked off on v2", open);
  crew.onNews((text) => progress.say(text));
  crew.begin();
  const pace = new Pace();
  while (crew.alive > 0) {
    signal.throwIfAborted();
    const counts = await queue.getJobCounts();
    const done = open - openOf(counts);
    pace.add(done);
    progress.update(done, noteOf(counts, before));
    if (done >= open || pace.idleMs > STUCK_MS) break;
    await sleep(LOOK_EVERY_MS);
  }
  progress.end();
  await crew.dismiss();
  const { ms, best } = pace;
  for (const line of crew.report()) view.say(line);
  const { recovered } = crew;
  if (recovered > 0)
    view.good(`${plural(recovered, "job")} that the killed worker still held went back in line`);
  view.say(`worked off in ${seconds(ms)}, best second ${best}/s`);
  return { ms, best, recovered };
}

function openOf(counts: JobCounts): number {
  return counts.waiting + counts.prioritized + counts.delayed + counts.active;
}

function noteOf(counts: JobCounts, before: JobCounts): string {
  const failed = counts.failed - before.failed;
  const idle = counts.waiting + counts.prioritized + counts.active === 0;
  const wait = idle && counts.delayed > 0 ? ", the rest is not due yet" : "";
  return `${counts.active} active, ${failed} failed${wait}`;
}
