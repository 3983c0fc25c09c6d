import { createTraceState, isSpanContextValid, type SpanContext } from "@opentelemetry/api";
import type { TraceContext } from "../telemetry/types.js";

/** The W3C form of a span's context; undefined for a span that is none. */
export function fromSpanContext(span: SpanContext): TraceContext | undefined {
  if (!isSpanContextValid(span)) return undefined;
  const flags = (span.traceFlags & 0xff).toString(16).padStart(2, "0");
  const traceparent = `00-${span.traceId}-${span.spanId}-${flags}`;
  const tracestate = span.traceState?.serialize();
  return tracestate ? { traceparent, tracestate } : { traceparent };
}

/** The context of a span elsewhere, from its W3C form. */
export function toSpanContext({ traceparent, tracestate }: TraceContext): SpanContext {
  const [, traceId = "", spanId = "", flags = ""] = traceparent.split("-");
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) || 0,
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  };
}
