import {
  type AddedJobs,
  type AnyJob,
  type AnyManualJob,
  type BulkJob,
  type DataOf,
  type Handler,
  type Job,
  type JobMapOf,
  type ManualJob,
  type Processor,
  Queue,
  QueueEvents,
  Worker,
} from "@echomq/core";
import {
  connection,
  type Kinds,
  type KindsInterface,
  type Mail,
  type Receipt,
  type Same,
  type Single,
} from "./kinds.js";

const byType = new Queue<Kinds>("mails", { connection });
const byInterface = new Queue<KindsInterface>("mails", { connection });

/** A map may be a `type` or an `interface`, everywhere. */
export async function eitherKindOfMap(): Promise<void> {
  const mail = await byType.add("mail", { to: "ann" });
  true satisfies Same<typeof mail, Job<Mail, Receipt, "mail">>;
  const other = await byInterface.add("mail", { to: "ann" }, { attempts: 3 });
  true satisfies Same<typeof other, Job<Mail, Receipt, "mail">>;
  new Worker<KindsInterface>("mails", null, { connection });
  const processor: Processor<KindsInterface> = async () => 1;
  new Worker<KindsInterface>("mails", processor, { connection });
  const events = new QueueEvents("mails", { connection });
  const receipt = await byInterface.addAndWait("mail", { to: "ann" }, {}, { events, timeout: 1 });
  true satisfies Same<typeof receipt, Receipt>;
  true satisfies Same<AnyJob<Kinds>, AnyJob<KindsInterface>>;
  true satisfies Same<BulkJob<Kinds>, BulkJob<KindsInterface>>;
  // A function over any map says so.
  const first = async <M extends JobMapOf<M>>(queue: Queue<M>): Promise<AnyJob<M> | undefined> =>
    (await queue.getJobs())[0];
  const found = await first(byInterface);
  true satisfies Same<typeof found, AnyJob<KindsInterface> | undefined>;
}

/** What is no map is refused by what it lacks. */
export type NoMaps = [
  // @ts-expect-error a kind has `data` and `result`
  Queue<{ mail: Mail }>,
  // @ts-expect-error `result` is missing
  Queue<{ mail: { data: Mail } }>,
  // @ts-expect-error so it is here
  Handler<{ mail: { data: Mail } }>,
];

/** A name goes with its own data. */
export async function namesGoWithData(): Promise<void> {
  // @ts-expect-error no such kind
  await byType.add("mial", { to: "ann" });
  // @ts-expect-error another kind's data
  await byType.add("mail", null);
  // @ts-expect-error a property too many
  await byType.add("mail", { to: "ann", cc: "bob" });
  const events = new QueueEvents("mails", { connection });
  // @ts-expect-error another kind's data
  await byType.addAndWait("report", { to: "ann" }, {}, { events, timeout: 1 });
}

/** Each entry of `addBulk` has the data of its own kind, and the jobs come back in their order. */
export async function bulk(): Promise<void> {
  const jobs = await byType.addBulk([
    { name: "mail", data: { to: "ann" } },
    { name: "report", data: null, opts: { priority: 1 } },
  ]);
  true satisfies Same<typeof jobs, [Job<Mail, Receipt, "mail">, Job<null, number, "report">]>;
  const many = await byType.addBulk(["ann", "bob"].map((to) => ({ name: "mail", data: { to } })));
  true satisfies Same<typeof many, Job<Mail, Receipt, "mail">[]>;
  const list: BulkJob<Kinds>[] = [];
  list.push({ name: "report", data: null });
  const all = await byInterface.addBulk(list);
  true satisfies Same<(typeof all)[number], AnyJob<Kinds>>;
  true satisfies Same<
    AddedJobs<Kinds, readonly [{ readonly name: "report"; readonly data: null }]>,
    [Job<null, number, "report">]
  >;
  // @ts-expect-error a mail without its data
  await byType.addBulk([{ name: "mail", data: null }]);
  await byType.addBulk([
    { name: "mail", data: { to: "ann" } },
    // @ts-expect-error a report has no data
    { name: "report", data: 1 },
  ]);
  // @ts-expect-error no such kind
  await byType.addBulk([{ name: "letter", data: null }]);
  // @ts-expect-error data of one kind under the name of another
  list.push({ name: "mail", data: null });
}

/** What is read back is a union that the name narrows. */
export async function reading(): Promise<void> {
  for (const job of await byInterface.getFailed()) {
    if (job.name === "mail") {
      true satisfies Same<typeof job.data, Mail>;
      true satisfies Same<typeof job.returnvalue, Receipt | undefined>;
    } else {
      true satisfies Same<typeof job.data, null>;
    }
  }
  const job = await byType.getJob("1");
  if (job?.name === "report") true satisfies Same<typeof job.returnvalue, number | undefined>;
  const mail = await byType.getJob<"mail">("1");
  true satisfies Same<typeof mail, Job<Mail, Receipt, "mail"> | null>;
  true satisfies Same<DataOf<Kinds, "mail">, Mail>;
}

/** Without a map everything is allowed in, and nothing is believed on the way out. */
export async function withoutMap(): Promise<void> {
  const queue = new Queue("mails", { connection });
  const job = await queue.add("x", { a: 1 });
  true satisfies Same<typeof job, Job<unknown, unknown, "x">>;
  await queue.add("x", undefined);
  await queue.addBulk([
    { name: "x", data: 1 },
    { name: "y", data: [2] },
  ]);
  await queue.addBulk([1, 2].map((data) => ({ name: "x", data, opts: { jobId: `${data}` } })));
  // @ts-expect-error it is looked at first
  job.data.a;
  new Worker("mails", async ({ data, name }) => ({ data, name }), { connection });
  new Worker("mails", () => undefined, { connection });
  const handler: Handler = (one) => one.id;
  new Worker("mails", handler, { connection });
}

/** By hand, a result may be left out only where the kind has none. */
export async function byHand(): Promise<void> {
  const worker = new Worker<Single & { tick: { data: null; result: undefined } }>("mails", null, {
    connection,
  });
  const job = await worker.getNextJob();
  if (job?.name === "tick") await job.moveToCompleted();
  if (job?.name === "mail") {
    await job.moveToCompleted({ sent: true });
    // @ts-expect-error a mail has a receipt
    await job.moveToCompleted();
  }
  const plain: ManualJob | undefined = await new Worker("m", null, { connection }).getNextJob();
  await plain?.moveToCompleted();
  true satisfies Same<AnyManualJob<Single>, ManualJob<Mail, Receipt, "mail">>;
}
