import { Queue } from "@echomq/core";
import { type Ending, endingOf } from "./check/tally.js";
import { QUEUE } from "./keyspace.js";
import type { Stage } from "./stage.js";
import { check } from "./story/check.js";
import { drain } from "./story/drain.js";
import { fill } from "./story/fill.js";
import { openMigration } from "./story/migration.js";
import { move } from "./story/move.js";
import { refuseV1 } from "./story/refuse-v1.js";
import { refuseV2 } from "./story/refuse-v2.js";
import { summary } from "./story/summary.js";
import { workOnV1 } from "./story/work-on-v1.js";
import { workOnV2 } from "./story/work-on-v2.js";
import { castJobs } from "./work/cast.js";
import { type DemoJobs, v2Client } from "./work/connect.js";
import { chooseFiles } from "./work/files.js";

/**
 * Tells the story, act by act.
 * @throws Error when an act does not go as it must.
 */
export async function tell(stage: Stage): Promise<Ending> {
  const { view, options, root } = stage;
  const started = performance.now();

  view.act(1, `A v1 queue: ${options.jobs} jobs, each to measure one file of node_modules`);
  const cast = castJobs(chooseFiles(root, options.jobs));
  const filled = await fill(stage, cast.jobs);

  view.act(2, "v1 works off a part");
  const v1 = await workOnV1(stage, cast.v1Quota);

  view.act(3, "EchoMQ 2 keeps its hands off a v1 queue");
  await refuseV2(stage);

  view.act(4, "Plan, drain, and stop v1");
  const migration = await openMigration(stage);
  const before = await drain(stage, migration, filled, v1);

  view.act(5, "The queue moves to the v2 wire");
  const moved = await move(stage, migration, options.jobs);

  view.act(6, "A v1 client that was forgotten");
  await refuseV1(stage);

  view.act(7, "The rest is worked off on v2");
  const queue = new Queue<DemoJobs>(QUEUE, { connection: v2Client(options.driver, stage.url) });
  stage.cleanup.defer(() => queue.close());
  const after = { ...(await queue.getJobCounts()) };
  const v2 = await workOnV2(stage, queue);

  view.act(8, "Every result is checked");
  const found = await check(stage, queue, filled.jobs);
  const end = { ...(await queue.getJobCounts()) };
  await queue.close();

  view.act(9, "Summary");
  const onV1 = v1?.ended.size ?? 0;
  const onV2 = end.completed + end.failed - onV1;
  const wallMs = performance.now() - started;
  const v1Ms = v1?.ms ?? 0;
  summary(view, { before, after, end, moved, onV1, v1Ms, onV2, v2, found, wallMs });
  return endingOf({ jobs: options.jobs, migrated: moved.jobs, onV2 }, found);
}
