import { startServer, type TestServer, uniqueQueue } from "@echomq/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Queue, QueueEvents, QueueEventsProducer, Worker } from "../../src/index.js";
import { createFakeClock } from "../../src/testing/index.js";
import { plainClient } from "../support/bench.js";
import { lanesOpen } from "../support/connections.js";
import { refusal, until } from "../support/until.js";

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.stop());

const KINDS: readonly (readonly [string, () => AsyncDisposable, (one: never) => unknown])[] = [
  [
    "Queue",
    () => new Queue(uniqueQueue(), { connection: server.url }),
    (queue: Queue) => queue.add("x", { a: 1 }),
  ],
  [
    "Queue of a fake clock",
    () => new Queue(uniqueQueue(), { connection: createFakeClock().connection(server.url) }),
    (queue: Queue) => queue.add("x", { a: 1 }),
  ],
  [
    "Worker",
    () => new Worker(uniqueQueue(), () => 1, { connection: server.url, autorun: false }),
    (worker: Worker) => worker.run(),
  ],
  [
    "Worker without a handler",
    () => new Worker(uniqueQueue(), null, { connection: server.url, autorun: false }),
    (worker: Worker) => worker.getNextJob(undefined, { block: false }),
  ],
  [
    "QueueEvents",
    () => new QueueEvents(uniqueQueue(), { connection: server.url, autorun: false }),
    (events: QueueEvents) => events.run(),
  ],
  [
    "QueueEventsProducer",
    () => new QueueEventsProducer(uniqueQueue(), { connection: server.url }),
    (producer: QueueEventsProducer) => producer.publishEvent({ eventName: "mine" }),
  ],
];

describe.each(KINDS)("`await using` of a %s", (_what, make, use) => {
  test("ends its connections with the block, and a second end is none", async () => {
    const client = plainClient(server.url);
    let one: AsyncDisposable;
    {
      await using held = make();
      one = held;
      await use(held as never);
      expect(await lanesOpen(client)).toBeGreaterThan(0);
    }
    await until("its connections are closed", async () => (await lanesOpen(client)) === 0);
    expect(await refusal(async () => use(one as never))).toMatchObject({ code: "CLOSED" });
    await one[Symbol.asyncDispose]();
  });

  test("that never connected ends too, also by an error", async () => {
    const block = async (): Promise<void> => {
      await using _held = make();
      throw new Error("out of the block");
    };
    expect((await refusal(block())).message).toBe("out of the block");
    expect(await lanesOpen(plainClient(server.url))).toBe(0);
  });
});
