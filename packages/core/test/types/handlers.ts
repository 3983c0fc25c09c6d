import { DelayedError, type Handler, Worker } from "@echomq/core";
import { connection, type Kinds, type Mail, type Same, type Single } from "./kinds.js";

/** The name narrows the data, and the result of any kind may come back. */
export const both: Handler<Kinds> = async (job, { signal, token, lease }) => {
  signal.throwIfAborted();
  if (job.name === "mail") {
    true satisfies Same<typeof job.data, Mail>;
    await job.updateData({ to: `${token} ${lease.remaining}` });
    return { sent: true };
  }
  true satisfies Same<typeof job.data, null>;
  return 7;
};

/** The handler of one kind returns its result. */
export function oneKind(): void {
  new Worker<Single>("mails", (job) => ({ sent: job.data.to !== "" }), { connection });
  new Worker<Single>("mails", async () => ({ sent: true }), { connection });
  // What always throws needs no result.
  new Worker<Single>(
    "mails",
    async () => {
      throw new DelayedError(5);
    },
    { connection },
  );
  // @ts-expect-error nothing comes back
  new Worker<Single>("mails", async () => undefined, { connection });
  // @ts-expect-error so it does here
  new Worker<Single>("mails", () => {}, { connection });
  // @ts-expect-error another result
  new Worker<Single>("mails", () => ({ sent: "yes" }), { connection });
  // @ts-expect-error a result of no kind
  new Worker<Kinds>("mails", async () => "done", { connection });
}

/** A kind without a result says so. */
export function noResult(): void {
  type Ticks = { tick: { data: null; result: undefined } };
  new Worker<Ticks>("ticks", () => {}, { connection });
  new Worker<Ticks>("ticks", async () => undefined, { connection });
  // @ts-expect-error it has none
  new Worker<Ticks>("ticks", async () => 1, { connection });
}
