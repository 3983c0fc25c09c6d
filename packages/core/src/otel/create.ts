import type { Telemetry } from "../telemetry/types.js";
import { Instruments } from "./instruments.js";
import { checkOtelOptions, type OtelTelemetryOptions } from "./options.js";
import { Spans } from "./spans.js";

/**
 * A telemetry that hands spans and metrics to OpenTelemetry, for the option `telemetry` of any number of
 * queues and workers. A handler runs with its span active where a context manager is registered.
 * @throws ValidationError `VALIDATION` naming the option.
 */
export function createOtelTelemetry(options: OtelTelemetryOptions = {}): Telemetry {
  const { tracer, meter, continueTraces } = checkOtelOptions(options);
  const spans = tracer === false ? undefined : new Spans(tracer, continueTraces);
  const instruments = meter === false ? undefined : new Instruments(meter);
  return {
    startSpan: (start) => spans?.start(start),
    count: (counter, value, attributes) => instruments?.count(counter, value, attributes),
    record: (histogram, seconds, attributes) => instruments?.record(histogram, seconds, attributes),
  };
}
