import { sharedServer } from "@echomq/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Job, type ManualJob, Queue, Worker } from "../../src/index.js";
import { Bench } from "../support/bench.js";
import { type Edge, MOMENT, testEdges, whole } from "../support/edges.js";
import { refusal, until } from "../support/until.js";

const TEN_YEARS = 315_360_000_000;

describe("a job that runs, held by hand", () => {
  let queue: Queue;
  let worker: Worker;
  let job: ManualJob;

  beforeAll(async () => {
    const { url } = await sharedServer("redis");
    const name = `edges-run-${process.pid}`;
    queue = new Queue(name, { connection: url });
    worker = new Worker(name, null, { connection: url });
    await queue.add("x", { a: 1 });
    job = (await worker.getNextJob()) as ManualJob;
  });

  afterAll(async () => {
    await worker.close({ timeout: 0 });
    await queue.obliterate({ force: true });
    await queue.close();
  });

  const bad = (what: string, option: string, give: Edge["give"], values: readonly unknown[]) => ({
    what,
    option,
    give,
    values: { good: [], bad: values },
  });
  const circular: Record<string, unknown> = {};
  circular.self = circular;

  testEdges(
    [
      {
        what: "extendLock",
        option: "ms",
        give: (value) => job.extendLock(value),
        values: whole(100, 86_400_000, true),
      },
      bad("moveToDelayed", "timestamp", (value) => job.moveToDelayed(value), [
        undefined,
        ...MOMENT.bad,
        Date.now() + 2 * TEN_YEARS,
      ]),
      bad("moveToDelayed token", "token", (value) => job.moveToDelayed(5, value), [
        null,
        5,
        {},
        [],
      ]),
      bad("moveToWait token", "token", (value) => job.moveToWait(value), [null, 5, {}, []]),
      bad("moveToCompleted", "value", (value) => job.moveToCompleted(value), [
        1n,
        Number.NaN,
        () => 1,
        { deep: [1n] },
        circular,
      ]),
    ],
    async (outcome) => void (await outcome()),
  );

  test("is still held, and ends once", async () => {
    await job.extendLock(60_000);
    expect(await job.getState()).toBe("active");
    await job.moveToCompleted({ ok: true });
    expect((await refusal(job.moveToCompleted())).code).toBe("EMQSTATE");
    expect(await queue.getJob(job.id)).toMatchObject({ returnvalue: { ok: true } });
  });
});

describe("maxDataSize", () => {
  test("holds for `updateData` of a job of the queue, and in a handler of a worker that has it", async () => {
    const bench = Bench.on((await sharedServer("redis")).url);
    const queue = bench.queue({ maxDataSize: 20 });
    const fits = "x".repeat(18);
    const large = "x".repeat(19);
    const job = (await queue.add("x", fits)) as Job;
    expect(await refusal(queue.add("x", large))).toMatchObject({ option: "data" });
    expect(await refusal(job.updateData(large))).toMatchObject({
      code: "VALIDATION",
      option: "data",
    });
    await job.updateData("y");
    const [read] = await queue.getWaiting();
    expect(await refusal(async () => read?.updateData(large))).toMatchObject({ option: "data" });
    const seen: (string | undefined)[] = [];
    const worker = bench.worker(
      async (one) => {
        await one.updateData(fits);
        seen.push((await refusal(one.updateData(large))).option);
      },
      { maxDataSize: 20 },
    );
    await until("it is done", async () => (await job.getState()) === "completed");
    expect(seen).toEqual(["data"]);
    expect((await queue.getJob(job.id))?.data).toBe(fits);
    await worker.close();
  });
});
