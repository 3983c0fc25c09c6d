import type { RedisDriver } from "@echomq/scripts";
import { ConfigError } from "@echomq/wire";
import type { ConnectionOption, ServerAddress } from "./types.js";

/** A driver, and the way to give it back. */
export interface ResolvedDriver {
  readonly driver: RedisDriver;
  /** Closes the driver once nobody uses it, unless the caller brought it. */
  release(): Promise<void>;
}

interface Shared {
  readonly opening: Promise<RedisDriver>;
  users: number;
}

/** One driver per client, however many queues are given it. */
const shared = new WeakMap<object, Shared>();

/**
 * Finds the driver for a `connection` option.
 * @throws ConfigError `CONFIG` when the option is none of the accepted, or no client is installed.
 * @throws DriverFault when the first connection fails.
 */
export async function resolveDriver(option: ConnectionOption): Promise<ResolvedDriver> {
  if (isDriver(option)) return { driver: option, release: async () => undefined };
  if (isClient(option)) return share(option);
  const driver = await open(await clientFor(option));
  return { driver, release: () => driver.close() };
}

async function share(client: object): Promise<ResolvedDriver> {
  const entry = shared.get(client) ?? { opening: open(client), users: 0 };
  shared.set(client, entry);
  entry.users += 1;
  try {
    const driver = await entry.opening;
    return {
      driver,
      release: async () => {
        entry.users -= 1;
        if (entry.users > 0) return;
        if (shared.get(client) === entry) shared.delete(client);
        await driver.close();
      },
    };
  } catch (error) {
    if (shared.get(client) === entry) shared.delete(client);
    throw error;
  }
}

async function open(client: object): Promise<RedisDriver> {
  if ("call" in client) {
    const { ioredisDriver } = await import("@echomq/scripts/ioredis");
    return ioredisDriver(client as Parameters<typeof ioredisDriver>[0]);
  }
  const { nodeRedisDriver } = await import("@echomq/scripts/node-redis");
  return nodeRedisDriver(client as Parameters<typeof nodeRedisDriver>[0]);
}

function isDriver(option: ConnectionOption): option is RedisDriver {
  return typeof option === "object" && option !== null && "fork" in option && "pipeline" in option;
}

function isClient(
  option: ConnectionOption,
): option is Exclude<typeof option, string | ServerAddress> {
  return (
    typeof option === "object" &&
    option !== null &&
    "duplicate" in option &&
    ("call" in option || "sendCommand" in option)
  );
}

/** A client that never connects: it only carries the options its driver is made from. */
async function clientFor(option: string | ServerAddress): Promise<object> {
  const url = typeof option === "string" ? checkUrl(option) : urlOf(option);
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

function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && (url.protocol === "redis:" || url.protocol === "rediss:")) return text;
  throw new ConfigError({
    option: "connection",
    message: "connection: a URL must start with redis:// or rediss://",
  });
}

function urlOf(address: ServerAddress): string {
  if (typeof address !== "object" || address === null || typeof address.host !== "string") {
    throw new ConfigError({
      option: "connection",
      message:
        "connection: expected a driver, an ioredis or node-redis client, a redis:// URL or { host, port }",
    });
  }
  const { host, port = 6379, username = "", password, db = 0, tls = false } = address;
  const user = encodeURIComponent(username);
  const login = password === undefined ? "" : `${user}:${encodeURIComponent(password)}@`;
  const name = host.includes(":") ? `[${host}]` : host;
  return `${tls ? "rediss" : "redis"}://${login}${name}:${port}/${db}`;
}
