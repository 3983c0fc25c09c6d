import type { RedisDriver } from "@echomq/scripts";
import { ConfigError } from "@echomq/wire";

/** A driver, or a client of ioredis or node-redis; a client is only read. */
export type Source = RedisDriver | object;

/** A driver and whether it was opened here, so that it is closed here. */
export interface OpenSource {
  readonly driver: RedisDriver;
  readonly own: boolean;
}

/**
 * Takes a driver as it is, or opens one from a client's options.
 * @throws ConfigError `CONFIG` when it is neither.
 */
export async function openSource(source: Source): Promise<OpenSource> {
  if (isDriver(source)) return { driver: source, own: false };
  if (has(source, "duplicate") && has(source, "call")) {
    const { ioredisDriver } = await import("@echomq/scripts/ioredis");
    return { driver: await ioredisDriver(source as never), own: true };
  }
  if (has(source, "duplicate") && has(source, "sendCommand")) {
    const { nodeRedisDriver } = await import("@echomq/scripts/node-redis");
    return { driver: await nodeRedisDriver(source as never), own: true };
  }
  throw new ConfigError({
    message: "source: expected a driver, an ioredis client or a node-redis client",
    option: "source",
  });
}

function isDriver(source: Source): source is RedisDriver {
  return has(source, "command") && has(source, "pipeline") && has(source, "fork");
}

function has(source: object, method: string): boolean {
  return method in source && typeof (source as Record<string, unknown>)[method] === "function";
}
