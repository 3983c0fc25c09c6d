// region
import { Queue, Worker } from "../../src/index.js";
// end

import { until } from "../support/until.js";

/** The code of docs/failing.md; resolves to what it saw. */
export async function failingExample(connection: string): Promise<Record<string, unknown>> {
  let broken = true;
  const send = async (data: unknown): Promise<unknown> => {
    if (broken) throw new Error("the mail server is down");
    return data;
  };

  // region
  await using mails = new Queue("mails", { connection });
  await using dead = new Queue("mails-dead", { connection });
  await using worker = new Worker("mails", async (job) => send(job.data), {
    connection,
    deadLetter: { queue: "mails-dead" },
  });
  // end
  worker.on("error", () => undefined);
  await mails.addBulk(
    [1, 2, 3].map((data) => ({ name: "mail", data, opts: { jobId: `m${data}` } })),
  );
  await until("three letters", async () => (await dead.getWaitingCount()) === 3);
  broken = false;

  // region
  for (const letter of await dead.getWaiting(0, 9)) console.info(letter.opts.source);
  const back = await dead.redrive({ count: 2 });
  // end
  await until("two are done", async () => (await mails.getCompletedCount()) === 2);

  // region
  const job = await mails.getJob("m3");
  await job?.retry("failed", { resetAttempts: true });
  const retried = await mails.retryJobs({ state: "failed" });
  // end
  await until("all are done", async () => (await mails.getCompletedCount()) === 3);

  worker.pause();
  await mails.add("mail", 4, { jobId: "m4", delay: 600_000 });
  // region
  const late = await mails.getJob("m4");
  await late?.changeDelay(60_000);
  await late?.promote();
  await late?.changePriority({ priority: 1 });
  await late?.cancel("the address is gone");
  const promoted = await mails.promoteJobs();
  // end
  const state = await late?.getState();

  // region
  const removed = await mails.remove("m4");
  const old = await mails.clean(24 * 3_600_000, 1_000, "completed");
  const drained = await mails.drain(true);
  await dead.obliterate();
  // end
  return { back, retried, promoted, state, removed, old, drained, left: await dead.count() };
}
