import { DriverFault, type RedisDriver } from "@echomq/scripts";
import { ConfigError } from "@echomq/wire";
import { checkConnection, isClient, isDriver, urlOf } from "./address.js";
import type { ConnectionOption, ServerAddress } from "./types.js";
import { unlessAborted } from "./within.js";

/** A driver, and the way to give it back. */
export interface ResolvedDriver {
  readonly driver: RedisDriver;
  /** Closes the driver once nobody uses it, unless the caller brought it. */
  release(mode?: "drain" | "now"): Promise<void>;
}

interface Shared {
  readonly opening: Promise<RedisDriver>;
  /** Gives the opening up, once nobody waits for it any more. */
  readonly giveUp: AbortController;
  users: number;
}

/** One driver per client, however many queues are given it. */
const shared = new WeakMap<object, Shared>();

/**
 * Finds the driver for a `connection` option. The first connection may take `connectTimeoutMs`; an aborted
 * `signal` gives it up.
 * @throws ValidationError `VALIDATION` when the option is none of the accepted.
 * @throws ConfigError `CONFIG` when no client is installed, or one cannot be used.
 * @throws DriverFault when the first connection fails.
 */
export async function resolveDriver(
  option: ConnectionOption,
  connectTimeoutMs: number,
  signal?: AbortSignal,
): Promise<ResolvedDriver> {
  checkConnection(option);
  if (typeof option === "object" && isDriver(option)) {
    return { driver: option as RedisDriver, release: async () => undefined };
  }
  if (typeof option === "object" && isClient(option))
    return share(option, connectTimeoutMs, signal);
  const client = await clientFor(option as string | ServerAddress);
  const driver = await open(client, { connectTimeoutMs, signal });
  return { driver, release: (mode) => driver.close(mode) };
}

async function share(
  client: object,
  connectTimeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<ResolvedDriver> {
  const entry = shared.get(client) ?? begun(client, connectTimeoutMs);
  shared.set(client, entry);
  entry.users += 1;
  const leave = (): void => {
    entry.users -= 1;
    if (entry.users > 0) return;
    if (shared.get(client) === entry) shared.delete(client);
    entry.giveUp.abort();
  };
  signal?.addEventListener("abort", leave, { once: true });
  try {
    const driver = await (signal ? unlessAborted(entry.opening, signal) : entry.opening);
    if (driver === undefined) {
      // It may have come in the same moment.
      if (entry.users === 0) entry.opening.then((late) => late.close("now")).catch(() => undefined);
      throw new DriverFault("closed", "given up");
    }
    return {
      driver,
      release: async (mode) => {
        leave();
        if (entry.users === 0) await driver.close(mode);
      },
    };
  } catch (error) {
    if (shared.get(client) === entry) shared.delete(client);
    throw error;
  } finally {
    signal?.removeEventListener("abort", leave);
  }
}

function begun(client: object, connectTimeoutMs: number): Shared {
  const giveUp = new AbortController();
  const opening = open(client, { connectTimeoutMs, signal: giveUp.signal });
  // Whoever waits for it hears of it.
  opening.catch(() => undefined);
  return { opening, giveUp, users: 0 };
}

async function open(
  client: object,
  options: { readonly connectTimeoutMs: number; readonly signal: AbortSignal | undefined },
): Promise<RedisDriver> {
  if ("call" in client) {
    const { ioredisDriver } = await import("@echomq/scripts/ioredis");
    return ioredisDriver(client as Parameters<typeof ioredisDriver>[0], options);
  }
  const { nodeRedisDriver } = await import("@echomq/scripts/node-redis");
  return nodeRedisDriver(client as Parameters<typeof nodeRedisDriver>[0], options);
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

/** Null for a module that is not there; any other failure of its import is thrown. */
export function notInstalled(error: unknown): null {
  if ((error as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND") return null;
  throw error;
}
