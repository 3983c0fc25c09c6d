import type { EchoMQError } from "@echomq/wire";
import { numberOf } from "../job/fields.js";
import { ShortLivedMap } from "../short-lived.js";
import type { Settlement } from "../worker/outcome.js";
import type { Run } from "../worker/run.js";
import { errorAttribute, operation } from "./attributes.js";
import { storedContext } from "./context.js";
import { spanError } from "./failure.js";
import { type GuardedSpan, GuardedTelemetry } from "./guard.js";
import type { SpanError, Telemetry, TelemetryAttributes } from "./types.js";

/** How a run ended: `unknown` where the worker closed before the server said so. */
type Outcome = "completed" | "failed" | "retried" | "moved" | "released" | "lost" | "unknown";

/** A run whose handler was called. */
interface Traced {
  readonly span: GuardedSpan;
  /** Monotonic ms. */
  readonly started: number;
  /** How long its handler took, in ms; undefined while it goes on. */
  took: number | undefined;
}

/** Traces and counts the runs of a worker. */
export class ConsumerTelemetry {
  readonly #telemetry: GuardedTelemetry;
  readonly #queue: string;
  readonly #attributes: TelemetryAttributes;
  /** `messaging.client.id`, of spans alone: in metrics each worker would be a series of its own. */
  readonly #client: TelemetryAttributes;
  readonly #runs = new ShortLivedMap<Run, Traced>();

  constructor(
    telemetry: Telemetry,
    queue: string,
    worker: string | undefined,
    report: (error: EchoMQError) => void,
  ) {
    this.#telemetry = new GuardedTelemetry(telemetry, report);
    this.#queue = queue;
    this.#attributes = operation(queue, "process", "process");
    this.#client = worker === undefined ? {} : { "messaging.client.id": worker };
  }

  /** Calls a handler inside the span of its run, which ends when the run's end is written. */
  run<J>(work: { call(job: J, run: Run): unknown }, job: J, run: Run): Promise<unknown> {
    const traced: Traced = { span: this.#begin(run), started: performance.now(), took: undefined };
    this.#runs.set(run, traced);
    this.#waited(run);
    return traced.span.run(async () => {
      try {
        return await work.call(job, run);
      } finally {
        traced.took = performance.now() - traced.started;
      }
    });
  }

  /** The end of a run was written. */
  settled(settlement: Settlement): void {
    const { run, result } = settlement;
    const outcome = outcomeOf(settlement);
    const error = outcome === "failed" || outcome === "retried" ? spanError(result) : undefined;
    this.#count(outcome, run, error);
    this.#end(run, outcome, error);
  }

  /** The lease of a run is gone. */
  lost(run: Run, why: Error): void {
    const error = spanError(why);
    this.#count("lost", run, error);
    this.#end(run, "lost", error);
  }

  /** A job whose worker was gone was put back in line. */
  stalled(): void {
    this.#telemetry.count("echomq.jobs.stalled", 1, this.#destination);
  }

  /** The worker has closed: what is still open was given back, or ended without an answer. */
  close(): void {
    for (const run of this.#runs.keys()) {
      const outcome = run.settling ? "unknown" : "released";
      if (outcome === "released") this.#count(outcome, run);
      this.#end(run, outcome);
    }
  }

  get #destination(): TelemetryAttributes {
    return { "messaging.system": "echomq", "messaging.destination.name": this.#queue };
  }

  #begin(run: Run): GuardedSpan {
    const parent = storedContext(run.fields);
    return this.#telemetry.startSpan({
      name: `process ${this.#queue}`,
      kind: "consumer",
      attributes: {
        ...this.#attributes,
        ...this.#client,
        ...nameOf(run),
        "messaging.message.id": run.id,
        "echomq.job.attempt": run.atm,
      },
      ...(parent === undefined ? {} : { parent }),
    });
  }

  /** Later runs were due at a time that is not kept. */
  #waited(run: Run): void {
    if (run.ats !== 1) return;
    const due = numberOf(run.fields.timestamp, 0) + numberOf(run.fields.delay, 0);
    const seconds = Math.max(run.claimedAt - due, 0) / 1_000;
    this.#telemetry.record("echomq.job.wait", seconds, { ...this.#destination, ...nameOf(run) });
  }

  #count(outcome: Exclude<Outcome, "unknown">, run: Run, error?: SpanError): void {
    const attributes = { ...this.#destination, ...nameOf(run), ...errorAttribute(error) };
    this.#telemetry.count(`echomq.jobs.${outcome}`, 1, attributes);
  }

  #end(run: Run, outcome: Outcome, error?: SpanError): void {
    const traced = this.#runs.get(run);
    this.#runs.delete(run);
    // A job that failed without running has a span all the same, or its trace would just stop.
    const span = traced?.span ?? (outcome === "failed" ? this.#begin(run) : undefined);
    if (traced !== undefined) {
      const seconds = (traced.took ?? performance.now() - traced.started) / 1_000;
      const attributes = { ...this.#attributes, ...nameOf(run), ...errorAttribute(error) };
      this.#telemetry.record("messaging.process.duration", seconds, attributes);
    }
    span?.end({
      attributes: { "echomq.job.outcome": outcome, ...errorAttribute(error) },
      ...(error === undefined ? {} : { error }),
    });
  }
}

function outcomeOf({ how, moved }: Settlement): Exclude<Outcome, "lost" | "unknown"> {
  if (how === "completed" || how === "failed") return how;
  if (how === "release") return "released";
  return moved ? "moved" : "retried";
}

function nameOf({ fields }: Run): TelemetryAttributes {
  return { "echomq.job.name": fields.name ?? "" };
}
