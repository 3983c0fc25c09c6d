// region
import { isEchoMQError, type Job, type JobMapOf, Queue, Worker } from "../../src/index.js";

interface Jobs {
  mail: { data: { to: string }; result: { sent: boolean } };
  report: { data: null; result: number };
}
// end

/** The code of docs/types.md; resolves to what it saw. */
export async function typesExample(connection: string): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {};
  // region
  await using queue = new Queue<Jobs>("mails", { connection });
  const [mail, report] = await queue.addBulk([
    { name: "mail", data: { to: "ann@example.com" } },
    { name: "report", data: null },
  ]);
  console.info(mail.data.to, report.returnvalue ?? 0);

  await using worker = new Worker<Jobs>(
    "mails",
    async (job) => {
      if (job.name === "mail") return { sent: job.data.to !== "" };
      return 7;
    },
    { connection },
  );
  // end
  await worker.waitUntilReady();

  // region
  async function failedOf(queues: readonly Queue[]): Promise<Job[]> {
    return (await Promise.all(queues.map((one) => one.getFailed()))).flat();
  }
  const failed = await failedOf([queue]);

  function welcome(to: Pick<Queue<Pick<Jobs, "mail">>, "add">, address: string): Promise<Job> {
    return to.add("mail", { to: address });
  }
  const welcomed = await welcome(queue, "bob@example.com");

  async function waiting<M extends JobMapOf<M>>(one: Queue<M>): Promise<number> {
    return (await one.getWaiting()).length;
  }
  const left = await waiting(queue);
  // end
  seen.failed = failed.length;
  seen.welcomed = welcomed.name;
  seen.left = left >= 0;

  // region
  try {
    await welcomed.promote();
  } catch (error) {
    if (!isEchoMQError(error, "EMQSTATE")) throw error;
    console.info(error.code, error.queue, error.jobId, error.message);
  }
  // end
  seen.error = await welcomed.promote().catch((error: unknown) => (error as Error).message);
  seen.id = welcomed.id;
  return seen;
}
