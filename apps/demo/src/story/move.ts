import type { Progress as Report } from "@echomq/migrate";
import type { Stage } from "../stage.js";
import { perSecond, plural, seconds } from "../view/text.js";
import type { DemoMigration } from "./migration.js";

/** What the move came to. */
export interface Moved {
  /** Jobs that stand on v2 and were compared with v1. */
  readonly jobs: number;
  readonly ms: number;
}

/** Act: fence, copy, verify, commit. */
export async function move(stage: Stage, demo: DemoMigration, jobs: number): Promise<Moved> {
  const { view } = stage;
  const { migration } = demo;
  const started = performance.now();
  const fence = await migration.fence();
  view.good(`fence: ${plural(fence.moved, "v1 key")} moved to ${fence.vault}, a tombstone stands`);
  const copy = await shown(stage, demo, "copied", jobs, () => migration.copy());
  const left = copy.dangling.count;
  view.good(`copy: ${copy.copied} jobs${left === 0 ? "" : `, ${left} without a hash left behind`}`);
  const verify = await shown(stage, demo, "compared", jobs, () => migration.verify());
  view.good(`verify: ${verify.jobs} jobs field by field, ${verify.differences} differences`);
  const commit = await migration.commit();
  const ms = performance.now() - started;
  await migration.close();
  view.good(`commit: ${commit.q} is open on the v2 wire (run ${commit.run})`);
  view.say(`moved in ${seconds(ms)}, ${perSecond(verify.jobs, ms)}`);
  return { jobs: verify.jobs, ms };
}

/** Shows a phase's progress over all its parts. */
async function shown<T>(
  { view }: Stage,
  { hear }: DemoMigration,
  label: string,
  total: number,
  phase: () => Promise<T>,
): Promise<T> {
  const progress = view.progress(label, total);
  const parts = new Map<string, number>();
  hear(({ part, done }: Report) => {
    parts.set(part, done);
    const sum = [...parts.values()].reduce((all, each) => all + each, 0);
    progress.update(Math.min(sum, total), `at state ${part}`);
  });
  try {
    return await phase();
  } finally {
    hear(null);
    progress.end();
  }
}
