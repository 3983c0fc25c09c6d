import type { RedisDriver } from "@echomq/scripts";
import { ConfigError } from "@echomq/wire";
import { checkConnection, isClient, isDriver, urlOf } from "./address.js";
import type { ConnectionOption, ServerAddress } from "./types.js";

/** A driver, and the way to give it back. */
export interface ResolvedDriver {
  readonly driver: RedisDriver;
  /** Closes the driver once nobody uses it, unless the caller brought it. */
  release(mode?: "drain" | "now"): Promise<void>;
}

interface Shared {
  readonly opening: Promise<RedisDriver>;
  users: number;
}

/** One driver per client, however many queues are given it. */
const shared = new WeakMap<object, Shared>();

/**
 * Finds the driver for a `connection` option. The first connection may take `connectTimeoutMs`.
 * @throws ValidationError `VALIDATION` when the option is none of the accepted.
 * @throws ConfigError `CONFIG` when no client is installed, or one cannot be used.
 * @throws DriverFault when the first connection fails.
 */
export async function resolveDriver(
  option: ConnectionOption,
  connectTimeoutMs: number,
): Promise<ResolvedDriver> {
  checkConnection(option);
  if (typeof option === "object" && isDriver(option)) {
    return { driver: option as RedisDriver, release: async () => undefined };
  }
  if (typeof option === "object" && isClient(option)) return share(option, connectTimeoutMs);
  const client = await clientFor(option as string | ServerAddress);
  const driver = await open(client, connectTimeoutMs);
  return { driver, release: (mode) => driver.close(mode) };
}

async function share(client: object, connectTimeoutMs: number): Promise<ResolvedDriver> {
  const entry = shared.get(client) ?? { opening: open(client, connectTimeoutMs), users: 0 };
  shared.set(client, entry);
  entry.users += 1;
  try {
    const driver = await entry.opening;
    return {
      driver,
      release: async (mode) => {
        entry.users -= 1;
        if (entry.users > 0) return;
        if (shared.get(client) === entry) shared.delete(client);
        await driver.close(mode);
      },
    };
  } catch (error) {
    if (shared.get(client) === entry) shared.delete(client);
    throw error;
  }
}

async function open(client: object, connectTimeoutMs: number): Promise<RedisDriver> {
  if ("call" in client) {
    const { ioredisDriver } = await import("@echomq/scripts/ioredis");
    return ioredisDriver(client as Parameters<typeof ioredisDriver>[0], { connectTimeoutMs });
  }
  const { nodeRedisDriver } = await import("@echomq/scripts/node-redis");
  return nodeRedisDriver(client as Parameters<typeof nodeRedisDriver>[0], { connectTimeoutMs });
}

/** A client that never connects: it only carries the options its driver is made from. */
async function clientFor(option: string | ServerAddress): Promise<object> {
  const url = typeof option === "string" ? option : urlOf(option);
  const ioredis = await import("ioredis").catch(notInstalled);
  if (ioredis) return new ioredis.Redis(url, { lazyConnect: true });
  const redis = await import("redis").catch(notInstalled);
  if (redis) return redis.createClient({ url });
  throw new ConfigError({
    option: "connection",
    message:
      "connection: a URL or address needs a Redis client; run `npm install ioredis` or `npm install redis`",
  });
}

function notInstalled(error: unknown): null {
  if ((error as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND") return null;
  throw error;
}
