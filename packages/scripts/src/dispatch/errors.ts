import { type EchoMQError, errorFromReply, isEchoMQError, ServerError } from "@echomq/wire";
import { isDriverFault } from "../driver/types.js";

/**
 * The one place where what a driver throws becomes a typed error. A reply is classed by its first
 * word; a lost or absent connection is `CONNECTION_LOST`; what is typed already passes unchanged.
 */
export function typedError(error: unknown, op: string): EchoMQError {
  if (isEchoMQError(error)) return error;
  if (!isDriverFault(error)) {
    return new ServerError({ code: "UNKNOWN", detail: messageOf(error), op, cause: error });
  }
  if (error.fault === "reply") return errorFromReply(error.message, op);
  return new ServerError({ code: "CONNECTION_LOST", detail: error.message, op, cause: error });
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
