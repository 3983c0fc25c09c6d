import type { RedisDriver } from "@echomq/scripts";
import { ioredisDriver } from "@echomq/scripts/ioredis";
import { nodeRedisDriver } from "@echomq/scripts/node-redis";
import {
  type Engine,
  startServer,
  strictDriver,
  type TestServer,
  uniqueQueue,
} from "@echomq/testkit";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { onTestFinished } from "vitest";
import {
  type ConnectionOption,
  type CustomEvents,
  type JobMap,
  type Processor,
  Queue,
  QueueEvents,
  type QueueEventsOptions,
  QueueEventsProducer,
  type QueueOptions,
  Worker,
  type WorkerOptions,
} from "../../src/index.js";

export const ENGINES: readonly Engine[] = ["redis", "valkey"];

export type DriverName = "ioredis" | "node-redis";

/** A driver of its own for an address. */
export function makeDriver(url: string, name: DriverName = "ioredis"): Promise<RedisDriver> {
  return name === "ioredis"
    ? ioredisDriver(new Redis(url, { lazyConnect: true }))
    : nodeRedisDriver(createClient({ url }));
}

/** A driver whose server refuses every key a call does not declare. */
export function makeStrict(url: string, name: DriverName = "ioredis"): Promise<RedisDriver> {
  return strictDriver({ url, make: (address) => makeDriver(address, name) });
}

type QueueRest = Omit<QueueOptions, "connection">;
type EventsRest = Omit<QueueEventsOptions, "connection">;
type WorkerRest = Omit<WorkerOptions, "connection">;

/** Queues and workers of one test on one server; what it makes is closed when the test ends. */
export class Bench {
  readonly url: string;
  readonly client: Redis;
  readonly name: string;
  readonly #connection: ConnectionOption;

  private constructor(url: string, connection: ConnectionOption, name = uniqueQueue("core")) {
    this.url = url;
    this.name = name;
    this.#connection = connection;
    this.client = plainClient(url);
  }

  /** On an address, or through a connection of the caller's; on a cluster `name` lies at `url`. */
  static on(url: string, connection: ConnectionOption = url, name?: string): Bench {
    return new Bench(url, connection, name);
  }

  /** On a server of its own. */
  static async own(
    engine: Engine = "redis",
    args: readonly string[] = [],
  ): Promise<Bench & { readonly server: TestServer }> {
    const server = await startServer({ engine, args });
    onTestFinished(() => server.stop());
    return Object.assign(new Bench(server.url, server.url), { server });
  }

  queue<M extends JobMap = JobMap>(options: QueueRest = {}, name: string = this.name): Queue<M> {
    const queue = new Queue<M>(name, { connection: this.#connection, ...options });
    onTestFinished(() => queue.close());
    return queue;
  }

  worker<M extends JobMap = JobMap>(
    handler: Processor<M>,
    options: WorkerRest = {},
    name: string = this.name,
  ): Worker<M> {
    const worker = new Worker<M>(name, handler, { connection: this.#connection, ...options });
    worker.on("error", () => undefined);
    onTestFinished(() => worker.close({ timeout: 0 }));
    return worker;
  }

  events<C extends CustomEvents = Record<never, never>>(
    options: EventsRest = {},
    name: string = this.name,
  ): QueueEvents<C> {
    const events = new QueueEvents<C>(name, { connection: this.#connection, ...options });
    (events as QueueEvents).on("error", () => undefined);
    onTestFinished(() => events.close());
    return events;
  }

  producer<C extends CustomEvents = CustomEvents>(
    name: string = this.name,
  ): QueueEventsProducer<C> {
    const producer = new QueueEventsProducer<C>(name, { connection: this.#connection });
    onTestFinished(() => producer.close());
    return producer;
  }

  /** A key of the queue. */
  key(unit: string): string {
    return `emq:{${this.name}}:v2:${unit}`;
  }

  /** Ids of jobs that are done. */
  async completed(): Promise<number> {
    return this.client.zcard(this.key("completed"));
  }
}

/** A client of the test's own, apart from the drivers under test. */
export function plainClient(url: string): Redis {
  const client = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 50 });
  client.on("error", () => undefined);
  onTestFinished(() => client.disconnect());
  return client;
}

/** Counts the handlers a worker has begun; a job it holds may not have come so far. */
export function begunBy(worker: Pick<Worker, "on">): () => number {
  let count = 0;
  worker.on("active", () => {
    count += 1;
  });
  return () => count;
}

/** A promise and the way to end it. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
