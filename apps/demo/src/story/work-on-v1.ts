import { QUEUE } from "../keyspace.js";
import type { Stage } from "../stage.js";
import { perSecond } from "../view/text.js";
import type { Child } from "../work/child.js";
import type { V1WorkerTask } from "../work/messages.js";

const CONCURRENCY = 8;

/** A v1 worker that has its part and takes no more; one job is still in its hands. */
export interface V1Work {
  readonly worker: Child<V1WorkerTask>;
  /** Ids that ended on v1; grows until the worker has stopped. */
  readonly ended: Set<string>;
  /** The job that takes its time, while it is in flight. */
  readonly inFlight: { readonly id: string; readonly path: string };
  readonly ms: number;
}

/** Act: a real v1 worker does a part of the work; null where the part is no job at all. */
export async function workOnV1(stage: Stage, quota: number): Promise<V1Work | null> {
  const { view, url, root } = stage;
  if (quota === 0) {
    view.say("too few jobs for a quarter: v1 works off none");
    return null;
  }
  const worker = await stage.child<V1WorkerTask>("v1-worker");
  view.say(`a bullmq worker in a process of its own (pid ${worker.pid}) takes about ${quota} jobs`);
  const ended = new Set<string>();
  const progress = view.progress("worked off on v1", quota);
  let failed = 0;
  worker.onMessage((message) => {
    if (message.type !== "ended") return;
    for (const id of [...message.completed, ...message.failed]) ended.add(id);
    failed += message.failed.length;
    progress.update(Math.min(ended.size, quota), failed === 0 ? "" : `${failed} failed`);
  });
  const slow = worker.next((message) => (message.type === "slow" ? message : undefined));
  const full = worker.next((message) => (message.type === "full" ? true : undefined));
  const started = performance.now();
  const concurrency = Math.max(1, Math.min(CONCURRENCY, Math.floor(quota / 4)));
  worker.begin({ url, queue: QUEUE, root, concurrency, quota });
  const [inFlight] = await Promise.all([slow, full]);
  const ms = performance.now() - started;
  progress.end();
  view.say(
    `${ended.size} jobs ended on v1 (${perSecond(ended.size, ms)}), ${failed} failed as they must; ` +
      `job ${inFlight.id} is still in flight`,
  );
  return { worker, ended, inFlight, ms };
}
