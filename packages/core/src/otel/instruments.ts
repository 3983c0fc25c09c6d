import { type Counter, type Histogram, type Meter, metrics } from "@opentelemetry/api";
import {
  TELEMETRY_METRICS,
  type TelemetryCounter,
  type TelemetryHistogram,
} from "../telemetry/metrics.js";
import type { TelemetryAttributes } from "../telemetry/types.js";
import { SCOPE } from "./scope.js";

/** Bounds in seconds, as the messaging conventions advise: an SDK's own are made for ms. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
/** Jobs may wait, and run, for longer than a message. */
const LONG = [...SECONDS, 30, 60, 300, 900, 3_600, 86_400];

const BOUNDS: Readonly<Record<TelemetryHistogram, number[]>> = {
  "messaging.client.operation.duration": SECONDS,
  "messaging.process.duration": LONG,
  "echomq.job.wait": LONG,
};

/** The metrics of one meter, each made at its first use: only then the global provider is surely set. */
export class Instruments {
  #meter: Meter | undefined;
  readonly #counters = new Map<TelemetryCounter, Counter>();
  readonly #histograms = new Map<TelemetryHistogram, Histogram>();

  constructor(meter: Meter | undefined) {
    this.#meter = meter;
  }

  count(name: TelemetryCounter, value: number, attributes: TelemetryAttributes): void {
    let counter = this.#counters.get(name);
    if (counter === undefined) {
      counter = this.#of().createCounter(name, { ...TELEMETRY_METRICS[name] });
      this.#counters.set(name, counter);
    }
    counter.add(value, attributes);
  }

  record(name: TelemetryHistogram, seconds: number, attributes: TelemetryAttributes): void {
    let histogram = this.#histograms.get(name);
    if (histogram === undefined) {
      const advice = { explicitBucketBoundaries: BOUNDS[name] };
      histogram = this.#of().createHistogram(name, { ...TELEMETRY_METRICS[name], advice });
      this.#histograms.set(name, histogram);
    }
    histogram.record(seconds, attributes);
  }

  #of(): Meter {
    this.#meter ??= metrics.getMeter(SCOPE);
    return this.#meter;
  }
}
