import { Queue, Worker } from "bullmq";

/** How a real v1 queue is made. */
export interface V1Options {
  readonly url: string;
  readonly queue: string;
  readonly prefix?: string;
  readonly paused?: boolean;
  readonly waiting?: number;
}

/** Connection options as bullmq takes them. */
export function connectionOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}

/** Runs `work` with a real v1 queue and closes it. */
export async function withQueue<T>(
  { url, queue, prefix = "bull" }: Pick<V1Options, "url" | "queue" | "prefix">,
  work: (queue: Queue) => Promise<T>,
): Promise<T> {
  const v1 = new Queue(queue, { connection: connectionOf(url), prefix });
  v1.on("error", () => undefined);
  try {
    return await work(v1);
  } finally {
    await v1.close();
  }
}

/** Runs the worker of a v1 queue until it has nothing left to do. */
export async function workOff(options: Pick<V1Options, "url" | "queue" | "prefix">): Promise<void> {
  const { url, queue, prefix = "bull" } = options;
  const worker = new Worker(
    queue,
    async (job) => {
      if (job.name === "fails") throw new Error("on purpose");
      if (job.name === "logs") for (let n = 0; n < 3; n += 1) await job.log(`line ${n}`);
      return { seen: job.data };
    },
    { connection: connectionOf(url), prefix, metrics: { maxDataPoints: 100 }, drainDelay: 1 },
  );
  await new Promise<void>((resolve) => worker.on("drained", () => resolve()));
  await worker.close();
}

/** Makes a queue with the real bullmq that has plain jobs in every state. */
export async function makeV1(options: V1Options): Promise<void> {
  const { waiting = 25 } = options;
  await withQueue(options, async (queue) => {
    await queue.addBulk([
      ...Array.from({ length: 12 }, (_, n) => ({ name: "done", data: { n } })),
      { name: "logs", data: {} },
      { name: "fails", data: { why: "é ∆ 🙂" } },
      { name: "fails", data: {}, opts: { jobId: "custom-failed" } },
    ]);
    await queue.add("dedup", {}, { deduplication: { id: "only-once", ttl: 3_600_000 } });
  });
  await workOff(options);
  await withQueue(options, async (queue) => {
    await queue.addBulk(
      Array.from({ length: waiting }, (_, n) => ({
        name: "wait",
        data: { n, text: "ü".repeat(n) },
      })),
    );
    await queue.add("first", {}, { lifo: true });
    for (let n = 0; n < 9; n += 1)
      await queue.add("ranked", { n }, { priority: 1 + ((n * 7) % 4) });
    await queue.add("last", {}, { priority: 2_097_152 });
    for (let n = 0; n < 6; n += 1) {
      await queue.add("later", { n }, { delay: 3_600_000 + (n % 2) * 500, priority: n % 3 });
    }
    await queue.add("named", {}, { jobId: "a:b:c", attempts: 3, backoff: 500 });
    if (options.paused === true) await queue.pause();
  });
}
