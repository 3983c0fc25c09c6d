import type { ConnectionOption } from "@echomq/core";
import { Redis } from "ioredis";
import { createClient } from "redis";
import type { DriverName } from "../args.js";

/** A client as users have one; the queue opens connections of its own beside it. */
export function connectionFor(url: string, driver: DriverName): ConnectionOption {
  return driver === "ioredis" ? new Redis(url, { lazyConnect: true }) : createClient({ url });
}
