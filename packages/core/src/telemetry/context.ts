import { type Fields, storedOptions } from "../job/fields.js";
import { fromJson } from "../job/payload.js";
import type { TraceContext } from "./types.js";

/** Longest `tracestate` that is kept, in characters: what W3C asks every hop to pass on. */
const STATE_MAX = 512;
/** Longest stored context that is looked at, in characters: v1 may have put baggage beside it. */
const STORED_MAX = 4_096;

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;
const TRACESTATE = /^[\x20-\x7e]+$/;

/** A trace context that may be written; undefined for what is none. A bad `tracestate` alone is left out. */
export function traceContext(value: unknown): TraceContext | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { traceparent, tracestate } = value as Partial<Record<string, unknown>>;
  if (typeof traceparent !== "string" || !TRACEPARENT.test(traceparent)) return undefined;
  const fits = typeof tracestate === "string" && tracestate.length <= STATE_MAX;
  return fits && TRACESTATE.test(tracestate) ? { traceparent, tracestate } : { traceparent };
}

/** Stored options with a trace context among them: under the name and in the form of v1's `tm`. */
export function withContext(stored: string, context: TraceContext): string {
  const field = `"tm":${JSON.stringify(JSON.stringify(context))}`;
  return stored === "" ? `{${field}}` : `${stored.slice(0, -1)},${field}}`;
}

/** The trace context that came with a job. Anybody may have written there: what is none is ignored. */
export function storedContext(fields: Fields): TraceContext | undefined {
  if (!fields.opts?.includes('"tm"')) return undefined;
  const { tm } = storedOptions(fields);
  return typeof tm === "string" && tm.length <= STORED_MAX ? traceContext(fromJson(tm)) : undefined;
}
