import { setTimeout as sleep } from "node:timers/promises";
import {
  type AnyJob,
  DelayedError,
  type JobContext,
  RateLimitError,
  UnrecoverableError,
  WaitingError,
  Worker,
} from "@echomq/core";
import { Random } from "../random.js";
import type { How, Plan, Recorder } from "../records.js";
import { connectionFor } from "./connection.js";
import type { ChildSettings, Order } from "./protocol.js";
import { trueNow } from "./shift.js";

type Jobs = {
  readonly [name: string]: {
    readonly data: Plan & { readonly step?: number };
    readonly result: unknown;
  };
};

/** A worker process: two workers, one on the queue and one on the side queue. */
export async function work(
  settings: ChildSettings,
  recorder: Recorder,
): Promise<(order: Order) => void> {
  const random = new Random(settings.seed);
  const options = {
    connection: connectionFor(settings.url, settings.driver),
    commandTimeout: 1_500,
    retryTime: 3_000,
    lockDuration: settings.leaseMs,
    stalledInterval: 500,
    // Jobs end by their plan, however often their workers are killed.
    maxStalledCount: 1_000,
    name: settings.name,
    metrics: { maxDataPoints: 60 },
  };
  const handler = handlerOf(recorder);
  const main = new Worker<Jobs>(settings.queue, handler, {
    ...options,
    concurrency: random.pick([1, 4, 12, 50]),
    claimAhead: random.pick([0, "auto", 8]),
  });
  const side = new Worker<Jobs>(settings.side, handler, { ...options, concurrency: 4 });
  for (const worker of [main, side]) {
    worker.on("lost", (job, error) => {
      recorder.write({ e: "lost", at: trueNow(), id: job.id, why: (error as Error).message });
    });
    worker.on("error", (error) => {
      const { code = "", message } = error as { code?: string; message: string };
      recorder.write({ e: "trouble", at: trueNow(), code, text: message.slice(0, 200) });
    });
  }
  await Promise.all([main.waitUntilReady(), side.waitUntilReady()]);
  return (order) => {
    if (order.type === "pause") main.pause();
    if (order.type === "resume") main.resume();
    if (order.type !== "close") return;
    const closed = [main, side].map((worker) => worker.close({ timeout: order.ms }));
    // It must end by itself from here: no exit is called.
    void Promise.all(closed).then(() => process.disconnect?.());
  };
}

/** Does what the job's plan says, and writes down when a run begins and how it ends. */
function handlerOf(
  recorder: Recorder,
): (job: AnyJob<Jobs>, context: JobContext) => Promise<unknown> {
  return async (job, { token, signal }) => {
    const { data, id } = job;
    recorder.write({
      e: "start",
      at: trueNow(),
      id,
      k: data.k,
      token,
      claimed: job.processedOn ?? 0,
    });
    const end = (how: How): void => {
      recorder.write({ e: "end", at: trueNow(), id, token, how });
    };
    try {
      if (data.workMs > 0) await sleep(data.workMs, undefined, { signal });
      await firstStep(job, data, end);
    } catch (error) {
      if (signal.aborted) end("stopped");
      throw error;
    }
    if (job.attemptsMade < data.fails) {
      end("failed");
      throw new Error(`planned ${token}`);
    }
    end("done");
    return { token };
  };
}

/** Jobs that move themselves do so once: the step is noted before, in the same lease. */
async function firstStep(
  job: AnyJob<Jobs>,
  data: Plan & { readonly step?: number },
  end: (how: How) => void,
): Promise<void> {
  if (data.first === "run" || data.step === 1) return;
  if (data.first === "log") {
    await written(end, async () => {
      await job.log(`a line of ${data.k}`);
      await job.updateProgress({ k: data.k });
    });
    return;
  }
  if (data.first === "fatal") {
    end("fatal");
    throw new UnrecoverableError(`planned for ever ${job.id}`);
  }
  await written(end, () => job.updateData({ ...data, step: 1 }));
  end(data.first);
  if (data.first === "later") throw new DelayedError(50);
  if (data.first === "wait") throw new WaitingError();
  throw new RateLimitError(20);
}

/** A write that did not arrive is no failure of the attempt: the job goes round once more. */
async function written(end: (how: How) => void, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch {
    end("wait");
    throw new WaitingError();
  }
}
