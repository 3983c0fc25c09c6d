import { connectionOf } from "./v1.js";

/** A real v1 package of another line than the one the other tests use. */
export interface V1Package {
  readonly Queue: new (name: string, options: object) => LineQueue;
  readonly Worker: new (
    name: string,
    work: (job: LineJob) => Promise<unknown>,
    options: object,
  ) => LineWorker;
  readonly FlowProducer: new (
    options: object,
  ) => {
    add(flow: object): Promise<unknown>;
    close(): Promise<void>;
  };
}

interface LineJob {
  readonly name: string;
  log(line: string): Promise<unknown>;
}

interface LineWorker {
  on(event: string, listener: () => void): unknown;
  close(): Promise<void>;
}

/** What of a v1 queue these tests call. */
export interface LineQueue {
  add(name: string, data: object, options?: object): Promise<{ id?: string }>;
  addBulk(jobs: readonly object[]): Promise<unknown>;
  pause(): Promise<void>;
  on(event: string, listener: () => void): unknown;
  close(): Promise<void>;
}

const LOADERS = {
  "bullmq-3": () => import("bullmq-3"),
  "bullmq-4": () => import("bullmq-4"),
  "bullmq-67": () => import("bullmq-67"),
} as const;

export type Alias = keyof typeof LOADERS;

/** Loads the package of a line. */
export async function loadLine(alias: Alias): Promise<V1Package> {
  return (await LOADERS[alias]()) as unknown as V1Package;
}

/** Runs `work` with a queue of the line and closes it. */
export async function withLine<T>(
  { Queue }: V1Package,
  { url, queue }: { readonly url: string; readonly queue: string },
  work: (queue: LineQueue) => Promise<T>,
): Promise<T> {
  const v1 = new Queue(queue, { connection: connectionOf(url) });
  v1.on("error", () => undefined);
  try {
    return await work(v1);
  } finally {
    await v1.close();
  }
}

/** Makes plain jobs in every state with the line's own package. */
export async function makeLine(
  line: V1Package,
  at: { readonly url: string; readonly queue: string; readonly ranked: boolean },
): Promise<void> {
  await withLine(line, at, (v1) =>
    v1.addBulk([
      ...Array.from({ length: 5 }, (_, n) => ({ name: "done", data: { n } })),
      { name: "logs", data: {} },
      { name: "fails", data: { why: "é ∆ 🙂" } },
    ]),
  );
  const worker = new line.Worker(
    at.queue,
    async (job) => {
      if (job.name === "fails") throw new Error("on purpose");
      if (job.name === "logs") await job.log("line");
      return { ok: true };
    },
    { connection: connectionOf(at.url), drainDelay: 1 },
  );
  await new Promise<void>((resolve) => worker.on("drained", () => resolve()));
  await worker.close();
  await withLine(line, at, async (v1) => {
    for (let n = 0; n < 12; n += 1) await v1.add("wait", { n });
    await v1.add("first", {}, { lifo: true });
    for (let n = 0; n < 4; n += 1) await v1.add("later", { n }, { delay: 3_600_000 + n });
    for (let n = 0; at.ranked && n < 6; n += 1) {
      await v1.add("ranked", { n }, { priority: 1 + (n % 3) });
    }
    await v1.pause();
  });
}
