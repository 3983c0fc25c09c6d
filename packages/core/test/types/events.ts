import {
  type AnyJob,
  type EchoMQError,
  type LeaseLostError,
  QueueEvents,
  QueueEventsProducer,
  Worker,
} from "@echomq/core";
import { connection, type Kinds, type Receipt, type Same, type Single } from "./kinds.js";

interface Shipping {
  shipped: { orderId: string };
}

/** Listeners of a worker know what they are given. */
export function ofWorkers(): void {
  const worker = new Worker<Kinds>("mails", null, { connection });
  worker.on("completed", (job, result) => {
    true satisfies Same<typeof job, AnyJob<Kinds>>;
    true satisfies Same<typeof result, number | Receipt>;
    if (job.name === "mail") true satisfies Same<typeof job.returnvalue, Receipt | undefined>;
  });
  worker.once("failed", async (job, error, retry) => {
    true satisfies Same<typeof error, unknown>;
    true satisfies Same<typeof retry, boolean>;
    await job.log("failed");
  });
  worker.prependListener("lost", (_job, error) => {
    true satisfies Same<typeof error, LeaseLostError>;
  });
  const onError = (error: EchoMQError): void => console.error(error.code, error.queue);
  worker.on("error", onError).off("error", onError).removeAllListeners("error");
  worker.listenerCount("stalled") satisfies number;
  // What takes any emitter takes a worker.
  worker satisfies NodeJS.EventEmitter;
  // @ts-expect-error misspelt
  worker.on("compleeted", () => undefined);
  // @ts-expect-error misspelt
  worker.once("compleeted", () => undefined);
  // @ts-expect-error misspelt
  worker.listenerCount("compleeted");
  // @ts-expect-error an id of a job, not a job
  worker.on("stalled", (job: AnyJob<Kinds>) => job.id);
  const one = new Worker<Single>("mails", null, { connection });
  one.on("completed", (_job, result) => true satisfies Same<typeof result, Receipt>);
}

/** Events of one's own may be told by a `type` or an `interface`. */
export async function ofQueues(): Promise<void> {
  const events = new QueueEvents<Shipping>("orders", { connection });
  events.on("shipped", ({ orderId }, eventId) => {
    true satisfies Same<typeof orderId, string>;
    true satisfies Same<typeof eventId, string>;
  });
  events.on("completed", ({ jobId, returnvalue }) => {
    true satisfies Same<typeof jobId, string>;
    true satisfies Same<typeof returnvalue, unknown>;
  });
  events.on("gap", ({ after }) => after.length);
  // @ts-expect-error misspelt
  events.on("shiped", () => undefined);
  const plain = new QueueEvents("orders", { connection });
  // @ts-expect-error nobody said what it is
  plain.on("shipped", () => undefined);
  const producer = new QueueEventsProducer<Shipping>("orders", { connection });
  await producer.publishEvent({ eventName: "shipped", orderId: "7" });
  // @ts-expect-error the payload is another
  await producer.publishEvent({ eventName: "shipped", order: "7" });
  // @ts-expect-error no such event
  await producer.publishEvent({ eventName: "sent", orderId: "7" });
  new QueueEventsProducer<{ shipped: { orderId: string } }>("orders", { connection });
}
