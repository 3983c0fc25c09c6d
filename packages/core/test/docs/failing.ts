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

  await using invoices = new Queue("invoices", { connection });
  const charge = async (data: unknown): Promise<never> => {
    throw new Error(`429 for ${data}`);
  };
  // region
  await using patient = new Worker("invoices", async (one) => charge(one.data), {
    connection,
    settings: {
      backoffStrategy: (attemptsMade, type, error) => {
        if (type === "quota")
          return error.message.startsWith("429") ? attemptsMade * 60_000 : 1_000;
        throw new Error(`no backoff named ${type}`);
      },
    },
  });
  const invoice = await invoices.add("invoice", 7, { attempts: 5, backoff: { type: "quota" } });
  // end
  patient.on("error", () => undefined);
  await until("it is put off", async () => (await invoice.getState()) === "delayed");
  const waits = (await invoices.getJob(invoice.id))?.delay;

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
  return { back, waits, retried, promoted, state, removed, old, drained, left: await dead.count() };
}
