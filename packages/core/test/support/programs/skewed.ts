// biome-ignore assist/source/organizeImports: the clock must be wrong before anything reads it
import { stepClock } from "./skew.js";
import { DelayedError, Queue, Worker, type JobOptions } from "../../../src/index.js";
import { serve } from "./serve.js";
import { settings, tell } from "./tell.js";

// A producer and a worker that do what the parent says, on a machine whose clock is wrong.
const { url, name } = settings;
const queue = new Queue(name, { connection: url });
const holds = new Map<string, () => void>();
let worker: Worker | undefined;

serve({
  step: (ms: number) => stepClock(ms),
  now: () => Date.now(),
  add: async (job: string, data: unknown, opts: JobOptions) => {
    const { id, timestamp } = await queue.add(job, data, opts);
    return { id, timestamp };
  },
  workers: () => queue.getWorkersCount(),
  pause: () => worker?.pause(),
  release: (id: string) => holds.get(id)?.(),
  work: async (options: Record<string, unknown>) => {
    worker = new Worker(
      name,
      async (job) => {
        tell(`begun ${job.id}`);
        if (job.name === "held") await new Promise<void>((end) => holds.set(job.id, end));
        if (job.name === "fails") throw new Error("as told");
        if (job.name === "moves" && job.attemptsStarted === 1) {
          await job.moveToDelayed(Date.now() + Number(job.data));
          throw new DelayedError();
        }
        return job.name;
      },
      { connection: url, ...options },
    );
    worker.on("error", () => undefined);
    worker.on("stalled", (id) => tell(`stalled ${id}`));
    worker.on("lost", (job) => tell(`lost ${job.id}`));
    await worker.waitUntilReady();
  },
});
