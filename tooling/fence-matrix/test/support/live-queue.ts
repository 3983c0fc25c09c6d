import { Queue, Worker } from "@echomq/core";
import type { RedisDriver } from "@echomq/scripts";
import type { KnownIds } from "../../src/v1-client.js";

/** A v2 queue with a job in every state a v1 client could want, one of them running. */
export interface LiveQueue extends AsyncDisposable {
  readonly q: string;
  readonly ids: KnownIds;
  /** Lets the running job end, runs the others in line, and answers what was seen, in order. */
  finish(): Promise<{ name: string; data: unknown }[]>;
}

/** An hour: nothing is renewed or swept while keys are compared. */
const HOUR_MS = 3_600_000;

/** Makes it. Every job's data is `{ is: <state>, text }`. */
export async function liveQueue(
  q: string,
  connection: RedisDriver,
  text: string,
): Promise<LiveQueue> {
  const queue = new Queue(q, { connection });
  const add = async (is: string, opts = {}): Promise<string> =>
    (await queue.add(is, { is, text }, { attempts: 1, ...opts })).id;
  const ids: Record<string, string> = {};
  const ran: { name: string; data: unknown }[] = [];
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const worker = new Worker(
    q,
    async (job) => {
      if (job.name === "failed") throw new Error("as wanted");
      if (job.name === "active") await gate;
      ran.push({ name: job.name, data: job.data });
    },
    { connection, lockDuration: HOUR_MS, stalledInterval: HOUR_MS, autorun: false },
  );
  worker.on("error", () => undefined);
  ids.completed = await add("completed");
  ids.failed = await add("failed");
  ids.active = await add("active");
  const started = new Promise<void>((resolve) => {
    worker.on("active", (job) => job.name === "active" && resolve());
  });
  await worker.run();
  await started;
  ids.waiting = await add("waiting");
  ids.delayed = await add("delayed", { delay: HOUR_MS });
  ids.prioritized = await add("prioritized", { priority: 3 });
  await queue.close();
  return {
    q,
    ids,
    async finish() {
      ran.length = 0;
      const drained = new Promise<void>((resolve) => worker.on("drained", resolve));
      open();
      await drained;
      return ran;
    },
    async [Symbol.asyncDispose]() {
      open();
      await worker.close();
    },
  };
}
