import { Queue, Worker } from "@echomq/core";
import type { RedisDriver } from "@echomq/scripts";
import { ioredisDriver } from "@echomq/scripts/ioredis";
import { nodeRedisDriver } from "@echomq/scripts/node-redis";
import { type FenceError, isEchoMQError } from "@echomq/wire";
import { Redis } from "ioredis";
import { createClient } from "redis";

/** Drivers under test. */
export const DRIVERS = ["ioredis", "node-redis"] as const;

/** A driver's name. */
export type DriverName = (typeof DRIVERS)[number];

/** Opens a driver over a client's options. */
export async function openDriver(name: DriverName, url: string): Promise<RedisDriver> {
  if (name === "ioredis") return ioredisDriver(new Redis(url, { lazyConnect: true }));
  return nodeRedisDriver(createClient({ url }) as never);
}

/** A client of the test's own, that waits for nothing. */
export function admin(url: string): Redis {
  const client = new Redis(url, { maxRetriesPerRequest: 0 });
  client.on("error", () => undefined);
  return client;
}

/** What a call threw; fails the test when it threw nothing. */
export async function thrownBy(work: () => Promise<unknown>): Promise<FenceError> {
  try {
    await work();
  } catch (error) {
    return error as FenceError;
  }
  throw new Error("nothing was thrown");
}

/** What every v2 contact with a queue throws: producer, its first look, a reader, a worker. */
export async function contacts(
  q: string,
  connection: RedisDriver,
  v1Prefixes?: readonly string[],
): Promise<Record<"ready" | "add" | "read" | "work" | "event", FenceError>> {
  const options = { connection, ...(v1Prefixes === undefined ? {} : { v1Prefixes }) };
  const queue = new Queue(q, options);
  const worker = new Worker(q, async () => "taken", { ...options, autorun: false });
  const told: unknown[] = [];
  worker.on("error", (error) => told.push(error));
  try {
    const ready = await thrownBy(() => queue.waitUntilReady());
    const add = await thrownBy(() => queue.add("intruder", {}));
    const read = await thrownBy(() => queue.getJobCounts());
    const work = await thrownBy(() => worker.run());
    return { ready, add, read, work, event: told[0] as FenceError };
  } finally {
    await Promise.all([queue.close(), worker.close()]);
  }
}

/** Code, key and finding of a refusal, in one line. */
export function verdict(error: FenceError): string {
  if (!isEchoMQError(error) || error.name !== "FenceError") return String(error);
  return `${error.code} ${error.found} at ${error.probe}`;
}
