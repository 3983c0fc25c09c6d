import { writeSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { Queue, QueueEvents, Worker } from "../../../src/index.js";

/** What the parent gives: how many jobs in how many rounds. */
const { url, name, jobs, rounds } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly url: string;
  readonly name: string;
  readonly jobs: number;
  readonly rounds: number;
};

// Adds and works off jobs round by round, and tells how much of the heap is in use after each.
const queue = new Queue(name, { connection: url });
const events = new QueueEvents(name, { connection: url });
let heard = 0;
events.on("completed", () => {
  heard += 1;
});
await events.waitUntilReady();
let ended = 0;
let end: () => void = () => undefined;
const each = Math.ceil(jobs / rounds);
const worker = new Worker(
  name,
  async (job) => {
    const data = job.data as number;
    if (data % 50 === 0) await job.updateProgress(data);
    if (data % 100 === 1 && job.attemptsMade === 0) throw new Error("once");
    return data;
  },
  {
    connection: url,
    concurrency: 100,
    removeOnComplete: { count: 1_000 },
    removeOnFail: true,
    metrics: { maxDataPoints: 5 },
  },
);
worker.on("completed", () => {
  ended += 1;
  if (ended % each === 0) end();
});
worker.on("error", (error) => writeSync(1, `error ${error.message}\n`));

for (let round = 0; round < rounds; round += 1) {
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  for (let at = 0; at < each; at += 5_000) {
    const bulk = Array.from({ length: Math.min(5_000, each - at) }, (_, n) => at + n);
    await queue.addBulk(bulk.map((data) => ({ name: "x", data, opts: { attempts: 2 } })));
  }
  await done;
  for (let n = 0; n < 20; n += 1) await turn();
  for (let n = 0; n < 4; n += 1) globalThis.gc?.();
  writeSync(1, `heap ${process.memoryUsage().heapUsed}\n`);
}
await worker.close();
await events.close();
await queue.close();
writeSync(1, `ended ${ended} heard ${heard > 0}\n`);
