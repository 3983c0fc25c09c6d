// region
import { DelayedError, Queue, Worker } from "../../src/index.js";

// end

interface Order {
  readonly step: "charge" | "ship" | "done";
}
type Kinds = { order: { data: Order; result: string } };

const at = (file: string): URL => new URL(file, import.meta.url);

/** The code of docs/working.md; resolves to what it saw. */
export async function workingExample(connection: string): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {};
  await using queue = new Queue<Kinds>("orders", { connection });
  // region
  await using worker = new Worker<Kinds>(
    "orders",
    async (job, { signal }) => {
      await job.updateProgress({ at: job.data.step });
      await job.log(`at ${job.data.step}`);
      signal.throwIfAborted();
      if (job.data.step === "charge") {
        await job.updateData({ step: "ship" });
        throw new DelayedError(100);
      }
      return job.data.step;
    },
    { connection, concurrency: 5, jobTimeout: 60_000 },
  );

  worker.concurrency = 20;
  // end
  const ended = new Promise((resolve) =>
    worker.on("completed", (job) => resolve(job.attemptsMade)),
  );

  // region
  const job = await queue.add("order", { step: "charge" }, { timeout: 5_000, ttl: 3_600_000 });
  // end
  seen.attempts = await ended;
  seen.logs = (await job.getLogs()).logs;

  // region
  const late = await queue.add("order", { step: "done" }, { delay: 60_000 });
  await queue.cancel(late.id, "the customer changed their mind");
  // end
  for (let looks = 0; looks < 500 && (await late.getState()) !== "failed"; looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  seen.why = (await queue.getJob(late.id))?.failedReason;

  await using images = new Queue("images", { connection });
  // region
  await using sandboxed = new Worker("images", at("./handlers/resize.cjs"), {
    connection,
    concurrency: 4,
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  // end
  const resized = new Promise((resolve) => {
    sandboxed.on("completed", (_job, result) => resolve(result));
  });
  await images.add("resize", { width: 640 });
  seen.resized = await resized;

  await using chores = new Queue("chores", { connection });
  await chores.add("sweep", {});
  // region
  await using hand = new Worker("chores", null, { connection });

  const chore = await hand.getNextJob();
  if (chore) {
    await chore.extendLock(60_000);
    await chore.moveToCompleted("swept");
  }
  // end
  seen.chores = await chores.getCompletedCount();
  return seen;
}
