// region
import { Queue, QueueEvents, QueueEventsProducer, Worker } from "../../src/index.js";

// end

type Shipping = { shipped: { orderId: string } };

/** The code of docs/events.md; resolves to what its listeners noted. */
export async function eventsExample(connection: string): Promise<string[]> {
  const notes: string[] = [];
  const note = (text: string): void => void notes.push(text);
  // region
  await using events = new QueueEvents("orders", { connection });
  events.on("completed", ({ jobId, returnvalue }, eventId) => {
    note(`${jobId} gave ${JSON.stringify(returnvalue)} at ${eventId}`);
  });
  events.on("failed", ({ jobId, failedReason }) => note(`${jobId} failed: ${failedReason}`));
  events.on("error", (error) => note(error.message));
  await events.waitUntilReady();
  // end

  await using queue = new Queue("orders", { connection });
  await using worker = new Worker("orders", ({ name }) => ({ done: name }), { connection });
  await worker.waitUntilReady();

  // region
  const job = await queue.add("pack", { order: 7 });
  const result = await job.waitUntilFinished(events, 30_000);

  const second = await queue.addAndWait("pack", { order: 8 }, {}, { events, timeout: 30_000 });
  // end
  note(JSON.stringify([result, second]));

  // region
  const lastEventId = events.lastEventId ?? "$";
  await using later = new QueueEvents<Shipping>("orders", { connection, lastEventId });
  later.on("gap", ({ after }) => note(`events after ${after} are missing`));
  // end

  const told = new Promise<void>((resolve) => {
    // region
    later.on("shipped", ({ orderId }) => note(`order ${orderId} is on its way`));
    // end
    later.on("shipped", () => resolve());
  });
  // region
  await using producer = new QueueEventsProducer<Shipping>("orders", { connection });
  await producer.publishEvent({ eventName: "shipped", orderId: "7" });
  // end
  await told;
  return notes;
}
