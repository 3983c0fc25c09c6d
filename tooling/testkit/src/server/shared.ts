import type { Engine } from "./binary.js";
import { startServer } from "./server.js";

/** Variables that name a server to use instead of one of the test kit's own. */
export const URL_VARIABLES: Readonly<Record<Engine, string>> = {
  redis: "ECHOMQ_REDIS_URL",
  valkey: "ECHOMQ_VALKEY_URL",
};

/** Variables through which a test run hands its shared servers to its workers. */
export const SHARED_VARIABLES: Readonly<Record<Engine, string>> = {
  redis: "ECHOMQ_SHARED_REDIS_URL",
  valkey: "ECHOMQ_SHARED_VALKEY_URL",
};

const started = new Map<Engine, Promise<{ url: string }>>();

/**
 * The server many tests share: the one named by `ECHOMQ_REDIS_URL`, else the one of this test run,
 * else one of this process. Tests keep apart by `uniqueQueue`; none may flush or configure it.
 */
export function sharedServer(engine: Engine = "redis"): Promise<{ url: string }> {
  const url = process.env[URL_VARIABLES[engine]] ?? process.env[SHARED_VARIABLES[engine]];
  if (url) return Promise.resolve({ url });
  const known = started.get(engine);
  if (known) return known;
  const own = startServer({ engine });
  started.set(engine, own);
  return own;
}
