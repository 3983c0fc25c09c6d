import {
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { SpanEnd, SpanStart, TelemetrySpan, TraceContext } from "../telemetry/types.js";
import { SCOPE } from "./scope.js";
import { fromSpanContext, toSpanContext } from "./trace-context.js";

const KINDS: Readonly<Record<SpanStart["kind"], SpanKind>> = {
  producer: SpanKind.PRODUCER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
};

/** Begins the spans of one tracer. */
export class Spans {
  readonly #tracer: Tracer;
  readonly #continue: boolean;

  constructor(tracer: Tracer | undefined, continueTraces: boolean) {
    this.#tracer = tracer ?? trace.getTracer(SCOPE);
    this.#continue = continueTraces;
  }

  start({ name, kind, attributes, parent, links = [] }: SpanStart): TelemetrySpan {
    const from = parent && toSpanContext(parent);
    // What was active when the worker was made has nothing to do with its jobs.
    let base = kind === "consumer" ? ROOT_CONTEXT : context.active();
    if (from && this.#continue) base = trace.setSpanContext(base, from);
    const linked = links.map((link) => ({ context: toSpanContext(link) }));
    if (from && !this.#continue) linked.push({ context: from });
    const options = { kind: KINDS[kind], attributes: { ...attributes }, links: linked };
    const span = this.#tracer.startSpan(name, options, base);
    return new OtelSpan(span, trace.setSpan(base, span));
  }
}

class OtelSpan implements TelemetrySpan {
  readonly #span: Span;
  readonly #context: Context;

  constructor(span: Span, active: Context) {
    this.#span = span;
    this.#context = active;
  }

  context(): TraceContext | undefined {
    return fromSpanContext(this.#span.spanContext());
  }

  run(work: () => unknown): unknown {
    return context.with(this.#context, work);
  }

  end({ attributes, error }: SpanEnd): void {
    this.#span.setAttributes({ ...attributes });
    if (error !== undefined) {
      const { type, message, stack } = error;
      this.#span.recordException({
        name: type,
        message,
        ...(stack === undefined ? {} : { stack }),
      });
      this.#span.setStatus({ code: SpanStatusCode.ERROR, message });
    }
    this.#span.end();
  }
}
