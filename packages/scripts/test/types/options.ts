import type { CallOptions, DispatcherOptions } from "@echomq/scripts";
import type { IoredisDriverOptions } from "@echomq/scripts/ioredis";
import type { NodeRedisDriverOptions } from "@echomq/scripts/node-redis";

/** An option that is `undefined` is not given: whoever passes one on need not leave it out. */
export function options(): void {
  ({
    queue: undefined,
    timeoutMs: undefined,
    retryMs: undefined,
    hook: undefined,
  }) satisfies DispatcherOptions;
  ({
    op: undefined,
    queue: undefined,
    timeoutMs: undefined,
    retryMs: undefined,
    signal: undefined,
  }) satisfies CallOptions;
  ({ connectTimeoutMs: undefined }) satisfies IoredisDriverOptions;
  ({ connectTimeoutMs: undefined }) satisfies NodeRedisDriverOptions;
}
