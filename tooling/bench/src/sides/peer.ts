import { Queue, Worker } from "bullmq-67";
import type { BenchJob, BenchQueue, Side, WorkerEars, WorkerSpec } from "./types.js";

const HOST = "127.0.0.1";
const HOURS_MS = 6 * 3_600_000;
/** Fetches in flight while jobs are put into active. */
const LANES = 128;

/** BullMQ through its public interface, with its default client. */
export const peer: Side = { openQueue, openWorker };

function openQueue(port: number, name: string): BenchQueue {
  const queue = new Queue<BenchJob["data"]>(name, { connection: { host: HOST, port } });
  return {
    ready: async () => {
      await queue.waitUntilReady();
    },
    add: ({ name, data }) => queue.add(name, data),
    addBulk: (jobs) => queue.addBulk(jobs),
    pause: () => queue.pause(),
    resume: () => queue.resume(),
    limit: async (active) => {
      await queue.setGlobalConcurrency(active);
    },
    hold: (jobs) => hold(port, name, jobs),
    close: () => queue.close(),
  };
}

async function openWorker(spec: WorkerSpec, ears: WorkerEars): Promise<{ close(): Promise<void> }> {
  const worker = new Worker<BenchJob["data"]>(spec.queue, async (job) => ears.started(job.data.n), {
    connection: { host: HOST, port: spec.port },
    concurrency: spec.concurrency,
    removeOnComplete: { count: spec.keep ? -1 : 0 },
    autorun: false,
    skipStalledCheck: !spec.sweep,
  });
  let closing = false;
  const trouble = (error: unknown): void => {
    if (!closing) ears.trouble(error);
  };
  worker.on("completed", () => ears.completed());
  worker.on("failed", (_job, error) => trouble(error));
  worker.on("error", trouble);
  await worker.waitUntilReady();
  void worker.run().catch(trouble);
  return {
    close: () => {
      closing = true;
      return worker.close();
    },
  };
}

/** Fetches by hand, as BullMQ's manual processing does, and never finishes. */
async function hold(port: number, queue: string, jobs: number): Promise<void> {
  const worker = new Worker(queue, null, {
    connection: { host: HOST, port },
    autorun: false,
    lockDuration: HOURS_MS,
    skipStalledCheck: true,
    skipLockRenewal: true,
  });
  await worker.waitUntilReady();
  let left = jobs;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const job = await worker.getNextJob("elsewhere", { block: false });
      if (!job) throw new Error("a job could not be held active");
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  await worker.close(true);
}
