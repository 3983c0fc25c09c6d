import type { RedisDriver } from "@echomq/scripts";
import { ioredisDriver } from "@echomq/scripts/ioredis";
import { nodeRedisDriver } from "@echomq/scripts/node-redis";
import { Redis } from "ioredis";
import { createClient } from "redis";

export const DRIVERS = ["ioredis", "node-redis"] as const;
export type DriverName = (typeof DRIVERS)[number];

const CONNECT_MS = 5_000;

/**
 * Opens the main lane of a driver.
 * @throws DriverFault when the server cannot be reached or refuses the credentials.
 */
export function openDriver(name: DriverName, url: string): Promise<RedisDriver> {
  const options = { connectTimeoutMs: CONNECT_MS };
  // The clients never connect: they only carry the options the lanes are made from.
  return name === "ioredis"
    ? ioredisDriver(new Redis(url, { lazyConnect: true }), options)
    : nodeRedisDriver(createClient({ url }), options);
}
