import { Queue } from "bullmq";
import { QUEUE } from "../keyspace.js";
import type { Stage } from "../stage.js";
import { perSecond } from "../view/text.js";
import type { CastJob, StoryJob } from "../work/cast.js";
import type { FileTask } from "../work/measure.js";

const CHUNK = 500;

/** The v1 queue once it is filled. */
export interface FilledQueue {
  readonly v1: Queue<FileTask>;
  readonly jobs: readonly StoryJob[];
}

/** Act: a real v1 queue is filled by the real bullmq. */
export async function fill(stage: Stage, cast: readonly CastJob[]): Promise<FilledQueue> {
  const { view, url } = stage;
  const v1 = new Queue<FileTask>(QUEUE, { connection: { url } });
  v1.on("error", (error) => view.bad(`v1 queue: ${error.message}`));
  stage.cleanup.defer(() => v1.close());
  const started = performance.now();
  const progress = view.progress("added", cast.length);
  const jobs: StoryJob[] = [];
  for (let at = 0; at < cast.length; at += CHUNK) {
    const some = cast.slice(at, at + CHUNK);
    const added = await v1.addBulk(
      some.map(({ task, priority, delayMs }) => ({
        name: "measure",
        data: task,
        opts: {
          ...(priority === undefined ? {} : { priority }),
          ...(delayMs === undefined ? {} : { delay: delayMs }),
        },
      })),
    );
    some.forEach((job, n) => {
      jobs.push({ ...job, id: added[n]?.id ?? "" });
    });
    progress.update(jobs.length);
  }
  progress.end();
  const rate = perSecond(jobs.length, performance.now() - started);
  const { version } = await v1.getMeta();
  const { waiting, prioritized, delayed } = await v1.getJobCounts();
  view.say(
    `${QUEUE} says it was written by ${version}: ` +
      `${waiting} waiting, ${prioritized} prioritized, ${delayed} delayed (${rate})`,
  );
  const failing = jobs.filter(({ expect }) => expect === "failure").length;
  if (failing > 0) view.say(`${failing} of them name a file that does not exist: they must fail`);
  return { v1, jobs };
}
