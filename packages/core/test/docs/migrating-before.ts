// region
import { DelayedError, type Processor, Queue, Worker } from "bullmq";

export function mails(connection: { host: string; port: number }): [Queue, Worker] {
  const queue = new Queue("mails", { connection });
  const work: Processor = async (job, token) => {
    if (job.data.to !== "night owl") return `sent to ${job.data.to}`;
    await job.moveToDelayed(Date.now() + 60_000, token);
    throw new DelayedError();
  };
  const worker = new Worker("mails", work, { connection, concurrency: 10 });
  worker.on("failed", (job, error) => console.error(job?.id, error.message));
  return [queue, worker];
}
// end
