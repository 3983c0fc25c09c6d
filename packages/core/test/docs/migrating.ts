// region
import { DelayedError, type Processor, Queue, Worker } from "../../src/index.js";

type Kinds = { mail: { data: { to: string }; result: string } };

export function mails(connection: { host: string; port: number }): [Queue<Kinds>, Worker<Kinds>] {
  const queue = new Queue<Kinds>("mails", { connection });
  const work: Processor<Kinds> = async (job, { signal }) => {
    signal.throwIfAborted();
    if (job.data.to !== "night owl") return `sent to ${job.data.to}`;
    throw new DelayedError(60_000);
  };
  const worker = new Worker<Kinds>("mails", work, { connection, concurrency: 10 });
  worker.on("failed", (job, error, retry) => console.error(job.id, error, retry));
  return [queue, worker];
}
// end

/** Runs the code of docs/migrating.md; resolves to what it saw. */
export async function migratingExample(connection: {
  host: string;
  port: number;
}): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {};
  const [queue, worker] = mails(connection);
  const results = new Promise((resolve) =>
    worker.once("completed", (_job, value) => resolve(value)),
  );
  const begun = new Promise((resolve) => {
    worker.once("active", (job) => resolve(job.attemptsStarted));
  });
  const digits = await queue.add("mail", { to: "ann" }, { jobId: "42" });
  const owl = await queue.add("mail", { to: "night owl" }, { jobId: "owl:1" });
  seen.result = await results;
  seen.begun = await begun;
  for (let looks = 0; looks < 500 && (await owl.getState()) !== "delayed"; looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const again = await queue.getJob(owl.id);
  seen.owl = [await owl.getState(), again?.attemptsMade, again?.attemptsStarted];
  seen.ids = [digits.id, owl.id];
  seen.none = await queue.getJob("none");
  await queue.pause();
  await queue.add("mail", { to: "bob" });
  seen.paused = (await queue.getWaiting()).length;

  // region
  await worker.close({ timeout: 10_000 });
  await queue.close();
  // end
  return seen;
}
