import type { Meter, Tracer } from "@opentelemetry/api";
import { flag, readable, record, refuse } from "../options/check.js";

/** Options of {@link createOtelTelemetry}. */
export interface OtelTelemetryOptions {
  /** Where spans go; false for none. Default: tracer `@echomq/core` of the global provider. */
  readonly tracer?: Tracer | false | undefined;
  /** Where metrics go; false for none. Default: meter `@echomq/core` of the global provider. */
  readonly meter?: Meter | false | undefined;
  /**
   * True: the span of a run is a child of the span that added its job. False: it begins a trace of its own
   * and is linked to that span, for jobs that run long after. Default true.
   */
  readonly continueTraces?: boolean | undefined;
}

/** Options, checked. Undefined stands for the global provider's. */
export interface OtelSettings {
  readonly tracer: Tracer | false | undefined;
  readonly meter: Meter | false | undefined;
  readonly continueTraces: boolean;
}

/**
 * Checks the options of `createOtelTelemetry`.
 * @throws ValidationError `VALIDATION` naming the option.
 */
export function checkOtelOptions(value: unknown): OtelSettings {
  const opts = record("options", value, ["tracer", "meter", "continueTraces"]);
  return {
    tracer: given<Tracer>("tracer", opts.tracer, "startSpan"),
    meter: given<Meter>("meter", opts.meter, "createCounter"),
    continueTraces: flag("continueTraces", opts.continueTraces) ?? true,
  };
}

function given<T>(option: string, value: unknown, method: string): T | false | undefined {
  if (value === undefined || value === false) return value;
  const methods = (value ?? {}) as Readonly<Record<string, unknown>>;
  const known = typeof readable(option, () => methods[method]) === "function";
  return known ? (value as T) : refuse(option, `must have the method ${method}, or be false`);
}
