import { isEchoMQError } from "@echomq/wire";
import { attempt, reasonOf } from "../worker/failure.js";
import type { SpanError } from "./types.js";

/** Longest type of an error, in characters: it becomes an attribute of metrics. */
const TYPE_MAX = 128;
const STACK_MAX = 16_384;

/** What was thrown, as text; it may be anything. */
export function spanError(thrown: unknown): SpanError {
  const stack = attempt(() => (thrown as Error).stack);
  return {
    type: errorType(thrown),
    message: reasonOf(thrown),
    ...(typeof stack === "string" ? { stack: stack.slice(0, STACK_MAX) } : {}),
  };
}

function errorType(thrown: unknown): string {
  const type = attempt(() =>
    isEchoMQError(thrown) ? (thrown.code as unknown) : (thrown as Error).name,
  );
  return typeof type === "string" && type !== "" ? type.slice(0, TYPE_MAX) : "_OTHER";
}
