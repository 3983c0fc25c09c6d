import { randomBytes } from "node:crypto";
import type { Context } from "./context.js";

/** Makes the id of a new run: sortable by time, unique without asking anybody. */
export function newRun(): string {
  return `${Date.now().toString(36)}-${randomBytes(4).toString("hex")}`;
}

/** The run this context works for; makes one when there is none yet. */
export function runOf(ctx: Context): string {
  ctx.run ??= newRun();
  return ctx.run;
}
