import {
  type EchoMQError,
  type ErrorContext,
  errorFromReply,
  isEchoMQError,
  ServerError,
} from "@echomq/wire";
import { isDriverFault } from "../driver/types.js";

/**
 * The one place where what a driver throws becomes a typed error. A reply is classed by its first
 * word; a lost or absent connection is `CONNECTION_LOST`; what is typed already passes unchanged. `about` is the
 * operation, or all that is known of what the error is about.
 */
export function typedError(error: unknown, about: string | ErrorContext): EchoMQError {
  if (isEchoMQError(error)) return error;
  const context = typeof about === "string" ? { op: about } : about;
  if (!isDriverFault(error)) {
    return new ServerError({ code: "UNKNOWN", detail: messageOf(error), ...context, cause: error });
  }
  if (error.fault === "reply") return errorFromReply(error.message, context);
  return new ServerError({
    ...context,
    code: "CONNECTION_LOST",
    detail: error.message,
    cause: error,
  });
}

/** True when the call certainly did not run, so sending it again cannot do it twice. */
export function certainlyNotRun(error: unknown): boolean {
  // Only `connection` had the command in flight.
  if (isDriverFault(error)) return error.fault !== "connection";
  return isEchoMQError(error) && error.code !== "TIMEOUT" && error.code !== "CONNECTION_LOST";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "the driver threw something that is no Error";
}
