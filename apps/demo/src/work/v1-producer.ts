/** A v1 producer in a process of its own that nobody told that the queue has moved. */
import { Queue } from "bullmq";
import { serve, tell } from "./child-side.js";
import type { V1ProducerTask } from "./messages.js";

let queue: Queue | undefined;

serve<V1ProducerTask>({
  async start(task) {
    queue = new Queue(task.queue, { connection: { url: task.url } });
    // The constructor writes to `meta`, is refused too, and says so by an event.
    queue.on("error", () => undefined);
    try {
      const job = await queue.add("measure", { path: "package.json" });
      tell({ type: "answer", accepted: true, text: `job ${job.id}` });
    } catch (error) {
      tell({ type: "answer", accepted: false, text: (error as Error).message });
    }
  },
  async stop() {
    await queue?.close();
  },
});
