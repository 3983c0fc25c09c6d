// region
import { Queue, type StandardSchemaV1, Worker } from "../../src/index.js";

interface Mail {
  readonly to: string;
}
type Kinds = { mail: { data: Mail; result: string }; report: { data: null; result: number } };
// end

/** Stands for a schema of zod, valibot, arktype or another library. */
const mailSchema: StandardSchemaV1<unknown, Mail> = {
  "~standard": {
    version: 1,
    vendor: "example",
    validate: (value) => {
      const { to } = value as Partial<Mail>;
      if (typeof to === "string") return { value: { to: to.trim() } };
      return { issues: [{ message: "must be a string", path: ["to"] }] };
    },
  },
};
const superjson = { serialize: JSON.stringify, deserialize: (text: string) => JSON.parse(text) };

/** The code of docs/adding.md; resolves to what it saw. */
export async function addingExample(connection: string): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {};
  // region
  await using queue = new Queue<Kinds>("mails", { connection });

  const job = await queue.add("mail", { to: "ann@example.com" }, { attempts: 3, backoff: 1_000 });
  const jobs = await queue.addBulk([
    { name: "mail", data: { to: "bob@example.com" } },
    { name: "report", data: null, opts: { priority: 1 } },
  ]);
  // end
  seen.added = [job.id, ...jobs.map(({ id }) => id)].length;

  // region
  await queue.add("report", null, { delay: 60_000 });
  await queue.add("report", null, { runAt: new Date(Date.now() + 3_600_000) });
  await queue.add("report", null, { timeout: 30_000, ttl: 600_000 });
  // end

  // region
  const first = await queue.add("report", null, { jobId: "report-2031-05" });
  const again = await queue.add("report", null, { jobId: "report-2031-05" });
  console.assert(again.id === first.id);
  // end
  seen.same = again.id === first.id;

  const mail: Mail = { to: "ann@example.com" };
  // region
  // Simple: until the job has ended.
  await queue.add("mail", mail, { deduplication: { id: "welcome-ann" } });
  // Throttle: for a minute, whether the job has ended or not.
  await queue.add("mail", mail, { deduplication: { id: "alert-ann", ttl: 60_000 } });
  // Debounce: the last of a burst runs, five seconds after it.
  await queue.add("mail", mail, {
    delay: 5_000,
    deduplication: { id: "digest-ann", ttl: 5_000, extend: true, replace: true },
  });
  // Keep the last while one runs: never two at once, and the newest is not lost.
  await queue.add("report", null, { deduplication: { id: "stats", keepLastIfActive: true } });
  // end

  // region
  const holder = await queue.getDeduplicationJobId("welcome-ann");
  const freed = await queue.removeDeduplicationKey("welcome-ann");
  // end
  seen.holder = typeof holder;
  seen.freed = freed;

  // region
  await queue.setMaxLength(10_000);
  await queue.setMaxLength(null);
  // end

  // region
  await using checked = new Queue<Kinds>("checked", {
    connection,
    schemas: { mail: mailSchema },
    maxDataSize: 64 * 1_024,
  });
  // end
  seen.stored = (await checked.add("mail", { to: " ann " })).data;
  seen.refused = await checked
    .add("mail", {} as Mail)
    .catch((error: unknown) => (error as Error).message);

  // region
  const serializer = superjson;
  await using plain = new Queue("plain", { connection, serializer });
  await using worker = new Worker("plain", async (one) => one.data, { connection, serializer });
  // end
  await worker.waitUntilReady();
  seen.plain = (await plain.add("x", [1])).data;
  return seen;
}
