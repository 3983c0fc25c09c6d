/** A v1 worker in a process of its own: the real bullmq, as a v1 service would run it. */
import { type Job, Worker } from "bullmq";
import { EndedJobs, serve, tell } from "./child-side.js";
import { type FileFacts, type FileTask, measure } from "./measure.js";
import type { V1WorkerTask } from "./messages.js";

const ended = new EndedJobs();
let worker: Worker<FileTask, FileFacts> | undefined;

serve<V1WorkerTask>({
  async start({ url, queue, root, concurrency, quota }) {
    let taken = 0;
    let over = 0;
    /** Once no more is taken and only the job that takes its time is left, the part is done. */
    const look = (): void => {
      if (taken < quota || taken - over > 1) return;
      ended.flush();
      tell({ type: "full" });
    };
    const work = async (job: Job<FileTask, FileFacts>): Promise<FileFacts> => {
      taken += 1;
      if (taken === quota) void worker?.pause(true);
      const { path, holdMs } = job.data;
      if (holdMs !== undefined) tell({ type: "slow", id: job.id ?? "", path, held: taken - over });
      look();
      return measure(root, job.data);
    };
    const connection = { url, maxRetriesPerRequest: null };
    worker = new Worker(queue, work, { connection, concurrency, name: "demo" });
    worker.on("completed", (job) => {
      over += 1;
      ended.completed(job.id ?? "");
      look();
    });
    worker.on("failed", (job) => {
      over += 1;
      ended.failed(job?.id ?? "");
      look();
    });
    worker.on("error", (error) => tell({ type: "trouble", text: error.message }));
    await worker.waitUntilReady();
  },
  async stop() {
    await worker?.close();
    ended.flush();
  },
});
