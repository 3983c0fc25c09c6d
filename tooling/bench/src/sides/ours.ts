import { type JobShape, Queue, Worker, type WorkerOptions } from "@echomq/core";
import { Dispatcher, stepScript } from "@echomq/scripts";
import { ioredisDriver } from "@echomq/scripts/ioredis";
import { isEchoMQError, unitKey } from "@echomq/wire";
import { Redis } from "ioredis";
import type { BenchJob, BenchQueue, Side, WorkerEars, WorkerSpec } from "./types.js";

type Jobs = { readonly [name: string]: JobShape & { readonly data: BenchJob["data"] } };

const HOST = "127.0.0.1";
const HOURS_MS = 6 * 3_600_000;
/** Most jobs one step claims. */
const CLAIM = 500;

/** EchoMQ through its public interface. */
export const ours: Side = { openQueue, openWorker };

/** Whether this core's worker knows `claimAhead`: one that does not refuses the option by name. */
export async function knowsClaimAhead(): Promise<boolean> {
  const options = { connection: `redis://${HOST}`, autorun: false, claimAhead: 0 };
  try {
    await new Worker("probe", () => undefined, options as WorkerOptions).close();
    return true;
  } catch (error) {
    if (isEchoMQError(error, "VALIDATION") && String(error).includes("claimAhead")) return false;
    throw error;
  }
}

function openQueue(port: number, name: string): BenchQueue {
  const queue = new Queue<Jobs>(name, { connection: { host: HOST, port } });
  return {
    ready: () => queue.waitUntilReady(),
    add: ({ name, data }) => queue.add(name, data),
    addBulk: (jobs) => queue.addBulk(jobs),
    pause: () => queue.pause(),
    resume: () => queue.resume(),
    limit: (active) => withClient(port, (client) => limit(client, name, active)),
    hold: (jobs) => withClient(port, (client) => hold(client, name, jobs)),
    close: () => queue.close(),
  };
}

async function openWorker(spec: WorkerSpec, ears: WorkerEars): Promise<{ close(): Promise<void> }> {
  const options = {
    connection: { host: HOST, port: spec.port },
    concurrency: spec.concurrency,
    removeOnComplete: !spec.keep,
    autorun: false,
    ...(spec.sweep ? {} : { stalledInterval: HOURS_MS }),
    ...(spec.claimAhead === undefined ? {} : { claimAhead: spec.claimAhead }),
  };
  const worker = new Worker<Jobs>(
    spec.queue,
    async (job) => ears.started(job.data.n),
    options as WorkerOptions,
  );
  worker.on("completed", () => ears.completed());
  worker.on("failed", (_job, error) => ears.trouble(error));
  worker.on("lost", (_job, error) => ears.trouble(error));
  worker.on("error", (error) => ears.trouble(error));
  await worker.run();
  return { close: () => worker.close() };
}

// Written as the wire keeps it: the queue has no method for it yet.
async function limit(client: Redis, queue: string, active: number): Promise<void> {
  await client.hset(unitKey(queue, "meta"), "concurrency", active);
}

async function hold(client: Redis, queue: string, jobs: number): Promise<void> {
  const driver = await ioredisDriver(client);
  const lane = Dispatcher.over(driver);
  try {
    for (let left = jobs; left > 0; ) {
      const now = Date.now();
      const { claimed } = await lane.run(stepScript, {
        q: queue,
        done: [],
        candidates: [],
        args: {
          now,
          claim: Math.min(left, CLAIM),
          deadline: now + HOURS_MS,
          token: `elsewhere.${left}`,
          hints: 0,
          begun: 500,
          keepCount: 0,
          keepAge: 0,
          rateMax: 0,
          rateMs: 0,
        },
        results: [],
      });
      if (claimed.length === 0) throw new Error(`${left} jobs could not be held active`);
      left -= claimed.length;
    }
  } finally {
    await lane.close();
    await driver.close();
  }
}

async function withClient(port: number, work: (client: Redis) => Promise<void>): Promise<void> {
  const client = new Redis({ host: HOST, port });
  try {
    await work(client);
  } finally {
    client.disconnect();
  }
}
