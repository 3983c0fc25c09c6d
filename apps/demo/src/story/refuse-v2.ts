import { Queue, Worker } from "@echomq/core";
import { type FenceError, isEchoMQError } from "@echomq/wire";
import { isStamped, QUEUE } from "../keyspace.js";
import { insist, type Stage } from "../stage.js";
import { type DemoJobs, v2Client } from "../work/connect.js";
import { measure } from "../work/measure.js";

/** Act: nobody on the v2 wire touches a v1 queue. */
export async function refuseV2(stage: Stage): Promise<void> {
  const { view, url, root, options } = stage;
  const connection = v2Client(options.driver, url);
  const worker = new Worker<DemoJobs>(QUEUE, (job) => measure(root, job.data), {
    connection,
    autorun: false,
  });
  // The refusal comes by `run` too.
  worker.on("error", () => undefined);
  const queue = new Queue<DemoJobs>(QUEUE, { connection });
  stage.cleanup.defer(() => Promise.all([worker.close({ timeout: 0 }), queue.close()]));
  const refusal = await refused(worker.run(), "the v2 worker started on a v1 queue");
  view.quote(`the v2 worker is refused, ${refusal.code}`, refusal.message);
  const add = queue.add("measure", { path: "package.json" });
  const second = await refused(add, "the v2 queue added to a v1 queue");
  view.quote(`a v2 producer too, ${second.code}`, second.message);
  await Promise.all([worker.close({ timeout: 0 }), queue.close()]);
  insist(!(await isStamped(stage.admin)), "a refused v2 client left a stamp behind");
  view.good("refused before anything was written");
}

async function refused(attempt: Promise<unknown>, otherwise: string): Promise<FenceError> {
  const error: unknown = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (isEchoMQError(error, "V1_KEYSPACE")) return error as FenceError;
  if (error !== undefined) throw error;
  insist(false, otherwise);
}
