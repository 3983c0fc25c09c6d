import type { TelemetryCounter, TelemetryHistogram } from "./metrics.js";

/** W3C trace context, as it is kept with a job. */
export interface TraceContext {
  /** The header of 55 characters. */
  readonly traceparent: string;
  /** At most 512 characters; a longer one is left out. */
  readonly tracestate?: string;
}

/** Attributes of spans and metrics, named by the messaging conventions of OpenTelemetry where they have a name. */
export type TelemetryAttributes = Readonly<Record<string, string | number | boolean>>;

/** What a span is begun with. */
export interface SpanStart {
  readonly name: string;
  /** `producer` puts its context into a job, `client` sends jobs that have one, `consumer` runs a job. */
  readonly kind: "producer" | "client" | "consumer";
  readonly attributes: TelemetryAttributes;
  /**
   * Context that came with the job, of a consumer: its span goes on from there, or begins a trace of its own
   * where there is none. The span of a producer or client goes on from whatever is active.
   */
  readonly parent?: TraceContext;
  /** Spans of the jobs that a client sends, 128 at most. */
  readonly links?: readonly TraceContext[];
}

/** Why a span failed: text and no object of the user's, whatever was thrown. */
export interface SpanError {
  /** Code of an error of EchoMQ, name of any other; `_OTHER` where it has none. */
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
}

/** What a span ends with. */
export interface SpanEnd {
  /** Attributes that were not known before. */
  readonly attributes: TelemetryAttributes;
  readonly error?: SpanError;
}

/** One operation that is being traced. */
export interface TelemetrySpan {
  /** What is to travel with a job, so that its run goes on from this span; undefined for nothing. */
  context(): TraceContext | undefined;
  /** Calls `work` once, at once, with this span as the active one, and returns what it returns. */
  run(work: () => unknown): unknown;
  end(end: SpanEnd): void;
}

/**
 * Takes in traces and metrics of queues and workers; one may serve many of them. What it throws is told
 * once as trouble and never reaches a job.
 */
export interface Telemetry {
  /** Begins a span; undefined where this one is not traced. */
  startSpan(start: SpanStart): TelemetrySpan | undefined;
  /** Adds `value` jobs to a counter. */
  count(counter: TelemetryCounter, value: number, attributes: TelemetryAttributes): void;
  /** Records a duration in seconds. */
  record(histogram: TelemetryHistogram, seconds: number, attributes: TelemetryAttributes): void;
}
