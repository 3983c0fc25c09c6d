import type { RedisDriver } from "@echomq/scripts";
import { ioredisDriver } from "@echomq/scripts/ioredis";
import { nodeRedisDriver } from "@echomq/scripts/node-redis";
import { dumpAll, type Engine, type KeyDump, sharedServer } from "@echomq/testkit";
import { isEchoMQError } from "@echomq/wire";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { onTestFinished } from "vitest";
import {
  createMigration,
  type Migration,
  type MigrationError,
  type MigrationOptions,
} from "../../src/index.js";

export const ENGINES: readonly Engine[] = ["redis", "valkey"];

export type DriverName = "ioredis" | "node-redis";

/** A driver of its own for an address. */
export function makeDriver(url: string, name: DriverName = "ioredis"): Promise<RedisDriver> {
  return name === "ioredis"
    ? ioredisDriver(new Redis(url, { lazyConnect: true }))
    : nodeRedisDriver(createClient({ url }));
}

/** A plain client for looking at keys. */
export function openClient(url: string): Redis {
  return new Redis(url, { maxRetriesPerRequest: 1 });
}

/** Everything a test opens, closed at its end in reverse order. */
export interface Bench {
  readonly url: string;
  readonly client: Redis;
  readonly driver: RedisDriver;
  /** Makes a migration that is closed with the rest. */
  migration(options: Omit<MigrationOptions, "source">): Promise<Migration>;
}

/** Opens a client and a driver on the shared server for one test. */
export async function openBench(engine: Engine = "redis", name?: DriverName): Promise<Bench> {
  const { url } = await sharedServer(engine);
  return benchAt(url, name);
}

/** As {@link openBench}, on a server of the test's own. */
export async function benchAt(url: string, name?: DriverName): Promise<Bench> {
  const client = openClient(url);
  onTestFinished(() => client.disconnect());
  const driver = await makeDriver(url, name);
  onTestFinished(() => driver.close());
  return {
    url,
    client,
    driver,
    async migration(options) {
      const migration = await createMigration({ source: driver, ...options });
      onTestFinished(() => migration.close());
      return migration;
    },
  };
}

/** The reason a phase gave for its refusal. */
export async function refusalOf(work: Promise<unknown>): Promise<MigrationError> {
  const outcome = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (!isEchoMQError(outcome) || !("reason" in outcome)) throw outcome ?? new Error("not refused");
  return outcome as MigrationError;
}

/**
 * Every key that matches, as `dumpAll` gives it. A hash is read field by field: Valkey may dump the
 * same hash in another order.
 */
export async function contentOf(client: Redis, pattern: string): Promise<Map<string, KeyDump>> {
  const dumps = await dumpAll(client, pattern);
  const hashes = [...dumps].filter(([, { type }]) => type === "hash");
  await Promise.all(
    hashes.map(async ([key, dump]) => {
      const fields = await client.hgetallBuffer(key);
      const sorted = Object.keys(fields)
        .sort()
        .map((field) => [field, fields[field]?.toString("base64")]);
      dumps.set(key, { ...dump, dump: JSON.stringify(sorted) });
    }),
  );
  return dumps;
}
