/** An EchoMQ worker in a process of its own. */
import { Worker } from "@echomq/core";
import { EndedJobs, serve, tell } from "./child-side.js";
import { type DemoJobs, v2Client } from "./connect.js";
import { measure } from "./measure.js";
import type { V2WorkerTask } from "./messages.js";

/** Other workers of the machine may take the processor: a slow renewal is no lost job. */
const LEASES_LOST_MAX = 10;

const ended = new EndedJobs();
let worker: Worker<DemoJobs> | undefined;

serve<V2WorkerTask>({
  async start({ url, driver, queue, root, concurrency, leaseMs, sweepMs }) {
    worker = new Worker<DemoJobs>(
      queue,
      async (job) => {
        const { path, holdMs } = job.data;
        if (holdMs !== undefined) {
          tell({ type: "slow", id: job.id, path, held: worker?.active ?? 1 });
        }
        return measure(root, job.data);
      },
      {
        connection: v2Client(driver, url),
        concurrency,
        lockDuration: leaseMs,
        stalledInterval: sweepMs,
        maxStalledCount: LEASES_LOST_MAX,
        // Every result is read again at the end, whatever their number.
        removeOnComplete: false,
        removeOnFail: false,
      },
    );
    worker.on("completed", (job) => ended.completed(job.id));
    worker.on("failed", (job, _error, retry) => {
      if (!retry) ended.failed(job.id);
    });
    worker.on("stalled", (id) => tell({ type: "recovered", id }));
    worker.on("error", (error) => tell({ type: "trouble", text: error.message }));
    await worker.waitUntilReady();
  },
  async stop() {
    await worker?.close();
    ended.flush();
  },
});
