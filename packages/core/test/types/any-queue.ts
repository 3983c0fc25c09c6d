import {
  type AnyJob,
  type Job,
  type ManualJob,
  Queue,
  QueueEvents,
  QueueEventsProducer,
  Worker,
} from "@echomq/core";
import { connection, type Kinds, type KindsInterface, type Mail, type Single } from "./kinds.js";

declare const kinds: Queue<Kinds>;
declare const single: Queue<Single>;
declare const unmapped: Queue;
declare const working: Worker<KindsInterface>;

/** A helper for any queue takes one without a map. */
export async function takesAny(): Promise<void> {
  const board = (queues: readonly Queue[], workers: readonly Worker[]): number =>
    queues.length + workers.length;
  board([kinds, single, new Queue("x", { connection })], [working]);
  const first: Job | undefined = (await kinds.getJobs())[0];
  const added: Job = await single.add("mail", { to: "ann" });
  const held: ManualJob | undefined = await working.getNextJob();
  const show = (job: Job): unknown => [job.data, job.returnvalue, job.name];
  show(first ?? added);
  working.on("completed", (job) => show(job));
  if (held) show(held);
  const any: AnyJob = added;
  show(any);
  const events: QueueEvents = new QueueEvents<{ shipped: { id: string } }>("x", { connection });
  await kinds.addAndWait("report", null, {}, { events, timeout: 1 });
  await added.waitUntilFinished(new QueueEvents<{ a: { b: 1 } }>("x", { connection }), 1);
}

/** Otherwise a map is the same or it does not go: what is read and what is added must both be right. */
export async function takesItsOwn(): Promise<void> {
  const same: Queue<KindsInterface> = kinds;
  // @ts-expect-error it would be given jobs of a kind it does not know
  const fewer: Queue<Single> = kinds;
  // @ts-expect-error it would add a kind nobody works on
  const more: Queue<Kinds> = single;
  // @ts-expect-error nobody knows what stands in it
  const known: Queue<Kinds> = unmapped;
  // @ts-expect-error its listeners would be given jobs of a kind they do not know
  const fewerWork: Worker<Single> = working;
  // @ts-expect-error what is listened for does not come
  const moreWork: Worker<Kinds> = new Worker<Single>("x", null, { connection });
  // What only adds some kinds asks for no more than that.
  const greet = (queue: Pick<Queue<Single>, "add">): Promise<Job<Mail>> =>
    queue.add("mail", { to: "ann" });
  await greet(kinds);
  await greet(single);
  void [same, fewer, more, known, fewerWork, moreWork];
  new QueueEventsProducer("x", { connection });
}
