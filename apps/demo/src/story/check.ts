import type { Queue } from "@echomq/core";
import { inspect } from "../check/inspect.js";
import type { Tally } from "../check/tally.js";
import type { Stage } from "../stage.js";
import type { StoryJob } from "../work/cast.js";
import type { DemoJobs } from "../work/connect.js";

const SHOWN = 10;

/** Act: every result, whoever computed it, is compared with a direct computation. */
export async function check(
  stage: Stage,
  queue: Queue<DemoJobs>,
  jobs: readonly StoryJob[],
): Promise<Tally> {
  const { view, root } = stage;
  const progress = view.progress("checked", jobs.length);
  const found = await inspect({ queue, jobs, root, onProgress: (done) => progress.update(done) });
  progress.end();
  for (const [kind, problems] of Object.entries({ lost: found.lost, wrong: found.wrong })) {
    for (const { job, why } of problems.slice(0, SHOWN)) view.bad(`${kind}: job ${job}: ${why}`);
    if (problems.length > SHOWN) view.bad(`and ${problems.length - SHOWN} more ${kind}`);
  }
  if (found.extra > 0) view.bad(`${found.extra} jobs stand on v2 that were never added`);
  if (found.lost.length + found.wrong.length + found.extra === 0) {
    view.good(
      `${found.right} results equal the direct computation, ` +
        `${found.failedAsExpected} jobs failed as they must`,
    );
  }
  return found;
}
