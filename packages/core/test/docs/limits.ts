// region
import { Queue, RateLimitError, Worker } from "../../src/index.js";
// end

/** The code of docs/limits.md; resolves to what it saw. */
export async function limitsExample(connection: string): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {};
  // region
  await using queue = new Queue("mails", { connection });

  await queue.setGlobalConcurrency(20);
  await queue.setGlobalRateLimit(100, 60_000);
  // end
  seen.set = [await queue.getGlobalConcurrency(), await queue.getGlobalRateLimit()];

  // region
  await queue.setGlobalConcurrency(null);
  await queue.removeGlobalRateLimit();
  // end
  seen.lifted = [await queue.getGlobalConcurrency(), await queue.getGlobalRateLimit()];

  const send = async (attempt: number) => ({ status: attempt > 1 ? 200 : 429, retryAfter: 20 });
  let calls = 0;
  // region
  await using worker = new Worker(
    "mails",
    async () => {
      calls += 1;
      const { status, retryAfter } = await send(calls);
      if (status === 429) throw new RateLimitError(retryAfter);
      return status;
    },
    { connection, limiter: { max: 50, duration: 1_000, scope: "worker" } },
  );
  // end
  const done = new Promise((resolve) => worker.on("completed", (_job, result) => resolve(result)));
  await queue.add("welcome", {});
  seen.sent = await done;

  // region
  await queue.rateLimit(30_000);
  const left = await queue.getRateLimitTtl();
  await queue.rateLimit(0);
  // end
  seen.held = left > 0;
  return seen;
}
