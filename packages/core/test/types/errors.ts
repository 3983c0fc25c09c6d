import {
  CancelledError,
  ConfigError,
  type EchoMQError,
  type ErrorCode,
  FenceError,
  isEchoMQError,
  LeaseLostError,
  SchemaError,
  ServerError,
  ValidationError,
  WireError,
} from "@echomq/core";
import type { Same } from "./kinds.js";

/** One package is enough to tell errors apart. */
export function tell(error: unknown): string {
  if (!isEchoMQError(error)) return "not ours";
  true satisfies Same<typeof error, EchoMQError>;
  error.code satisfies ErrorCode;
  true satisfies Same<typeof error.queue, string | undefined>;
  true satisfies Same<typeof error.jobId, string | undefined>;
  if (isEchoMQError(error, "EMQFULL") && error instanceof WireError) return error.detail;
  if (error instanceof FenceError) return `${error.queue} ${error.probe}`;
  if (error instanceof SchemaError) return error.issues.map(({ message }) => message).join();
  if (error instanceof ValidationError) return error.option;
  if (error instanceof ConfigError || error instanceof ServerError) return error.message;
  if (error instanceof LeaseLostError) return `${error.jobId} ${error.loss}`;
  return error instanceof CancelledError ? error.reason : error.message;
}
