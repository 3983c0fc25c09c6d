import type { IoredisLike, NodeRedisLike } from "@echomq/core";
import { Redis } from "ioredis";
import { createClient } from "redis";
import type { DriverName } from "../options.js";
import type { FileFacts, FileTask } from "./measure.js";

/** Jobs of the demo's queue. */
export type DemoJobs = {
  readonly measure: { readonly data: FileTask; readonly result: FileFacts };
};

/** A client that carries the server's address for the v2 side; it never connects itself. */
export function v2Client(driver: DriverName, url: string): IoredisLike | NodeRedisLike {
  return driver === "ioredis" ? new Redis(url, { lazyConnect: true }) : createClient({ url });
}
