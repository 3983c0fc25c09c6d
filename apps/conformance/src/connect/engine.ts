import type { Tool } from "./tool.js";

/** What the server says it is. */
export interface Engine {
  /** `redis`, `valkey` or another server's own name. */
  readonly name: string;
  readonly version: string;
  /** Version of Redis it says to be compatible with. */
  readonly redisVersion: string;
  /** `standalone`, `sentinel` or `cluster`. */
  readonly mode: string;
}

export const UNKNOWN_ENGINE: Engine = {
  name: "unknown",
  version: "unknown",
  redisVersion: "unknown",
  mode: "unknown",
};

/**
 * Reads `INFO server`.
 * @throws Refused where this user may not run `INFO`.
 */
export async function readEngine(tool: Tool): Promise<Engine> {
  return engineOf(String(await tool.ask("INFO", "server")));
}

/** Versions that do not name the server. */
const COMMON = new Set(["redis_version", "gcc_version", "server_version"]);

/** Understands the text of `INFO server`. */
export function engineOf(info: string): Engine {
  const fields = new Map<string, string>();
  for (const line of info.split(/\r?\n/)) {
    const [, key, value] = /^([a-z_]+):(.*)$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) fields.set(key, value.trim());
  }
  const redisVersion = fields.get("redis_version") ?? "unknown";
  // Servers that are not Redis name their own version beside the one they are compatible with.
  const named = [...fields].find(([key]) => /^[a-z]+_version$/.test(key) && !COMMON.has(key));
  return {
    name: fields.get("server_name") ?? named?.[0].replace(/_version$/, "") ?? "redis",
    version: named?.[1] ?? redisVersion,
    redisVersion,
    mode: fields.get("server_mode") ?? fields.get("redis_mode") ?? "unknown",
  };
}
