// region
import { Queue, Worker } from "../../src/index.js";
import { createFakeClock, drainQueue } from "../../src/testing/index.js";

// end

// region
interface Mail {
  readonly to: string;
  readonly text: string;
}
type Kinds = { mail: { data: Mail; result: string } };
const DAY = 86_400_000;

async function signUp(queue: Queue<Kinds>, to: string): Promise<void> {
  await queue.add("mail", { to, text: "welcome" });
  const retry = { attempts: 3, backoff: { type: "exponential", delay: 3_600_000 } };
  await queue.add("mail", { to, text: "how is it going?" }, { ...retry, delay: 7 * DAY });
}
// end

/** The code of docs/testing.md; resolves to what it saw. */
export async function testingExample(connection: string): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {};

  // region
  const clock = createFakeClock();
  await using queue = new Queue<Kinds>("mails", { connection: clock.connection(connection) });

  await signUp(queue, "ann");
  const today = await drainQueue(queue, async (job) => `sent: ${job.data.text}`);
  // today.completed: [{ id, name: "mail", data: { to: "ann", … }, result: "sent: welcome" }]
  // today.counts.delayed: 1
  // end
  seen.today = [today.completed, today.counts.delayed];

  // region
  let tries = 0;
  const later = await drainQueue(
    queue,
    async (job) => {
      tries += 1;
      if (tries < 3) throw new Error("the mail server is down");
      return `sent: ${job.data.text}`;
    },
    { delayed: true },
  );
  // later.retried: two, each with its reason; later.completed: one
  // later.advanced: a week, an hour, and two hours
  // end
  seen.later = [later.retried.map(({ reason }) => reason), later.completed, later.advanced];

  // region
  await using worker = new Worker<Kinds>("mails", async () => "sent", {
    connection: clock.connection(connection),
  });
  await worker.waitUntilReady();

  const reminder = await queue.add("mail", { to: "bob", text: "tomorrow" }, { delay: DAY });
  const ran = new Promise((resolve) => worker.once("completed", (job) => resolve(job.id)));
  await clock.advance(DAY);
  console.assert((await ran) === reminder.id);
  // end
  seen.ran = (await ran) === reminder.id;
  return seen;
}
