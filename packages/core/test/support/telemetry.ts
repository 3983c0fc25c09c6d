import { AsyncLocalStorage } from "node:async_hooks";
import { context, metrics, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { onTestFinished } from "vitest";
import type {
  SpanEnd,
  SpanStart,
  Telemetry,
  TelemetryAttributes,
  TelemetrySpan,
  TraceContext,
} from "../../src/index.js";
import { createOtelTelemetry, type OtelTelemetryOptions } from "../../src/otel/index.js";

/** A span as it was begun, and as it ended. */
export interface NotedSpan extends SpanStart {
  readonly own: TraceContext;
  /** The span that was active when it began. */
  readonly within: NotedSpan | undefined;
  readonly ends: SpanEnd[];
}

/** Keeps what it is told, and knows which span is active. */
export class MemoryTelemetry implements Telemetry {
  readonly spans: NotedSpan[] = [];
  readonly counts = new Map<string, number>();
  readonly records: { name: string; seconds: number; attributes: TelemetryAttributes }[] = [];
  readonly #active = new AsyncLocalStorage<NotedSpan>();

  get active(): NotedSpan | undefined {
    return this.#active.getStore();
  }

  startSpan(start: SpanStart): TelemetrySpan {
    const own = contextOf(this.spans.length + 1);
    const span: NotedSpan = { ...start, own, within: this.active, ends: [] };
    this.spans.push(span);
    return {
      context: () => own,
      run: (work) => this.#active.run(span, work),
      end: (end) => void span.ends.push(end),
    };
  }

  count(name: string, value: number): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + value);
  }

  record(name: string, seconds: number, attributes: TelemetryAttributes): void {
    this.records.push({ name, seconds, attributes });
  }

  /** Spans of one kind. */
  of(kind: SpanStart["kind"]): NotedSpan[] {
    return this.spans.filter((span) => span.kind === kind);
  }

  /** How the runs ended, in the order they began. */
  get outcomes(): unknown[] {
    return this.of("consumer").map(({ ends }) => ends[0]?.attributes["echomq.job.outcome"]);
  }
}

/** A valid trace context, another for each number. */
export function contextOf(n: number): TraceContext {
  const hex = n.toString(16);
  return { traceparent: `00-${hex.padStart(32, "0")}-${hex.padStart(16, "0")}-01` };
}

/** The SDK itself, with what it exported. */
export interface Sdk {
  readonly telemetry: Telemetry;
  /** Spans that have ended. */
  spans(): ReadableSpan[];
  metrics(): Promise<MetricData[]>;
}

let managed = false;

/** An SDK of the test's own; the context manager is the process's. */
export function openSdk(options: OtelTelemetryOptions = {}): Sdk {
  const { provider, meters, ...sdk } = openProviders();
  const tracer = provider.getTracer("test");
  const meter = meters.getMeter("test");
  return { ...sdk, telemetry: createOtelTelemetry({ tracer, meter, ...options }) };
}

/** An SDK that is the process's own until the test ends. */
export function globalSdk(): Omit<Sdk, "telemetry"> {
  const { provider, meters, ...sdk } = openProviders();
  trace.setGlobalTracerProvider(provider);
  metrics.setGlobalMeterProvider(meters);
  onTestFinished(() => {
    trace.disable();
    metrics.disable();
  });
  return sdk;
}

type Providers = Omit<Sdk, "telemetry"> & {
  readonly provider: BasicTracerProvider;
  readonly meters: MeterProvider;
};

function openProviders(): Providers {
  if (!managed) {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    managed = true;
  }
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const sink = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  // Long enough to export only when it is told to.
  const reader = new PeriodicExportingMetricReader({
    exporter: sink,
    exportIntervalMillis: 3_600_000,
  });
  const meters = new MeterProvider({ readers: [reader] });
  onTestFinished(async () => {
    await provider.shutdown();
    await meters.shutdown();
  });
  return {
    provider,
    meters,
    spans: () => exporter.getFinishedSpans(),
    metrics: async () => {
      sink.reset();
      await reader.forceFlush();
      return sink
        .getMetrics()
        .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((one) => one.metrics));
    },
  };
}

/** Id of the active span of the SDK, and of its trace. */
export function activeSpan(): { traceId: string; spanId: string } | undefined {
  const span = trace.getSpan(context.active())?.spanContext();
  return span && { traceId: span.traceId, spanId: span.spanId };
}
