import { EchoMQError } from "@echomq/wire";
import { flag, nameText, record, whole } from "../options/check.js";
import { TIMER_MAX_MS } from "../options/limits.js";
import type { NextJob } from "./manual.js";

/** How long to wait for a job when the caller does not say, in ms. */
const WAIT_MS = 5_000;

/**
 * Checks what `getNextJob` was given.
 * @throws ValidationError `VALIDATION` naming the option.
 */
export function checkNextJob(token: unknown, options: unknown): NextJob {
  const known = record("options", options, ["block", "timeout", "renew"]);
  return {
    token: token === undefined ? undefined : nameText("token", token),
    look: !(flag("options.block", known.block) ?? true),
    waitMs: whole("options.timeout", known.timeout, 1, TIMER_MAX_MS) ?? WAIT_MS,
    renew: flag("options.renew", known.renew) ?? true,
  };
}

/** The error of fetching by hand from a worker that has a handler. */
export function handlerError(queue: string): EchoMQError {
  const message = "getNextJob needs a worker without a handler: new Worker(name, null, options)";
  return new EchoMQError({ code: "NO_MANUAL", message, op: "Worker.getNextJob", queue });
}
