import { randomBytes } from "node:crypto";

/** A queue name no other test uses, so tests can share one server. */
export function uniqueQueue(prefix = "q"): string {
  return `${prefix}-${randomBytes(8).toString("hex")}`;
}
