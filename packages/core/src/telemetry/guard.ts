import { EchoMQError } from "@echomq/wire";
import { messageOf } from "../options/check.js";
import { isPromise } from "../options/schema.js";
import { traceContext } from "./context.js";
import type { TelemetryCounter, TelemetryHistogram } from "./metrics.js";
import type {
  SpanEnd,
  SpanStart,
  Telemetry,
  TelemetryAttributes,
  TelemetrySpan,
  TraceContext,
} from "./types.js";

/** Runs a call of a telemetry, and gives undefined where it throws. */
type Guarded = <T>(call: () => T) => T | undefined;

/** A telemetry that never throws: trouble is told once, and the rest of it passed over. */
export class GuardedTelemetry {
  readonly #telemetry: Telemetry;
  readonly #report: (error: EchoMQError) => void;
  readonly #guarded: Guarded;
  #told = false;

  constructor(telemetry: Telemetry, report: (error: EchoMQError) => void) {
    this.#telemetry = telemetry;
    this.#report = report;
    this.#guarded = (call) => {
      try {
        const value = call();
        // Of an async method nobody would see the rejection, and it would end the process.
        if (isPromise(value)) value.then(undefined, (thrown: unknown) => this.#trouble(thrown));
        return value;
      } catch (thrown) {
        this.#trouble(thrown);
        return undefined;
      }
    };
  }

  startSpan(start: SpanStart): GuardedSpan {
    const span = this.#guarded(() => {
      const begun = this.#telemetry.startSpan(start);
      if (!isPromise(begun)) return begun;
      begun.then(undefined, () => undefined);
      throw new TypeError("startSpan gave a promise instead of a span");
    });
    return new GuardedSpan(span, this.#guarded);
  }

  count(counter: TelemetryCounter, value: number, attributes: TelemetryAttributes): void {
    this.#guarded(() => this.#telemetry.count(counter, value, attributes));
  }

  record(histogram: TelemetryHistogram, seconds: number, attributes: TelemetryAttributes): void {
    this.#guarded(() => this.#telemetry.record(histogram, seconds, attributes));
  }

  #trouble(thrown: unknown): void {
    if (this.#told) return;
    this.#told = true;
    const message = `the telemetry threw: ${messageOf(thrown)}; it is not told again`;
    this.#report(new EchoMQError({ code: "TELEMETRY", message, op: "telemetry", cause: thrown }));
  }
}

/** A span that never throws, and does nothing where there is none. */
export class GuardedSpan {
  readonly #span: TelemetrySpan | undefined;
  readonly #guarded: Guarded;

  constructor(span: TelemetrySpan | undefined, guarded: Guarded) {
    this.#span = span;
    this.#guarded = guarded;
  }

  context(): TraceContext | undefined {
    return this.#guarded(() => traceContext(this.#span?.context()));
  }

  /** Runs `work` exactly once, whatever the span does with it. */
  run<T>(work: () => Promise<T>): Promise<T> {
    let running: Promise<T> | undefined;
    const once = (): Promise<T> => {
      running ??= work();
      return running;
    };
    if (this.#span === undefined) return once();
    this.#guarded(() => {
      const out = this.#span?.run(once);
      // What the work rejects with is its caller's to see.
      if (isPromise(out)) out.then(undefined, () => undefined);
      if (running === undefined) throw new Error("run did not call the work it was given");
    });
    return once();
  }

  end(end: SpanEnd): void {
    this.#guarded(() => this.#span?.end(end));
  }
}
