import type { SpanError, TelemetryAttributes } from "./types.js";

/** What an operation is, as the conventions sort them. */
export type OperationType = "create" | "send" | "process";

/** Attributes of every span and metric of one operation of a queue. */
export function operation(
  queue: string,
  name: "add" | "addBulk" | "process",
  type: OperationType,
): TelemetryAttributes {
  return {
    "messaging.system": "echomq",
    "messaging.destination.name": queue,
    "messaging.operation.name": name,
    "messaging.operation.type": type,
  };
}

/** The attribute of a failure, none where there was none. */
export function errorAttribute(error: SpanError | undefined): TelemetryAttributes {
  return error === undefined ? {} : { "error.type": error.type };
}
