import type { EchoMQError } from "@echomq/wire";
import type { Added, NewJob } from "../queue/adder.js";
import { errorAttribute, operation } from "./attributes.js";
import { withContext } from "./context.js";
import { spanError } from "./failure.js";
import { type GuardedSpan, GuardedTelemetry } from "./guard.js";
import type { SpanError, Telemetry, TelemetryAttributes, TraceContext } from "./types.js";

/** Most links of one span, as SDKs keep them unless told otherwise. */
const LINKS_MAX = 128;

/** Traces and counts what a queue adds. */
export class ProducerTelemetry {
  readonly #telemetry: GuardedTelemetry;
  readonly #queue: string;

  constructor(telemetry: Telemetry, queue: string, report: (error: EchoMQError) => void) {
    this.#telemetry = new GuardedTelemetry(telemetry, report);
    this.#queue = queue;
  }

  /** Adds one job by `send`, which is given the job with the context of its span. */
  async add(job: NewJob, send: (job: NewJob) => Promise<Added>): Promise<Added> {
    const attributes = operation(this.#queue, "add", "send");
    const span = this.#begin("producer", "add", { ...attributes, "echomq.job.name": job.name });
    const started = performance.now();
    try {
      const added = await send(carrying(job, span.context()));
      this.#done(started, attributes);
      this.#count([job], [added]);
      span.end({ attributes: addedAttributes(added) });
      return added;
    } catch (thrown) {
      const error = spanError(thrown);
      this.#done(started, attributes, error);
      span.end({ attributes: errorAttribute(error), error });
      throw thrown;
    }
  }

  /** As {@link add} for many: a span creates each job, and one that sends them is linked to all of those. */
  async addBulk(
    jobs: readonly NewJob[],
    send: (jobs: readonly NewJob[]) => Promise<Added[]>,
  ): Promise<Added[]> {
    if (jobs.length === 0) return send(jobs);
    const create = operation(this.#queue, "addBulk", "create");
    const creations = jobs.map(({ name }) =>
      this.#begin("producer", "create", { ...create, "echomq.job.name": name }),
    );
    const contexts = creations.map((span) => span.context());
    const attributes = operation(this.#queue, "addBulk", "send");
    const batch = { ...attributes, "messaging.batch.message_count": jobs.length };
    const span = this.#begin("client", "addBulk", batch, contexts);
    const started = performance.now();
    try {
      const added = await send(jobs.map((job, at) => carrying(job, contexts[at])));
      this.#done(started, attributes);
      this.#count(jobs, added);
      creations.forEach((creation, at) => {
        creation.end({ attributes: addedAttributes(added[at]) });
      });
      span.end({ attributes: {} });
      return added;
    } catch (thrown) {
      const error = spanError(thrown);
      const end = { attributes: errorAttribute(error), error };
      this.#done(started, attributes, error);
      for (const creation of creations) creation.end(end);
      span.end(end);
      throw thrown;
    }
  }

  #begin(
    kind: "producer" | "client",
    what: "add" | "create" | "addBulk",
    attributes: TelemetryAttributes,
    contexts: readonly (TraceContext | undefined)[] = [],
  ): GuardedSpan {
    const links = contexts.filter((context) => context !== undefined).slice(0, LINKS_MAX);
    const name = `${what} ${this.#queue}`;
    return this.#telemetry.startSpan({
      name,
      kind,
      attributes,
      ...(links.length > 0 ? { links } : {}),
    });
  }

  #done(started: number, attributes: TelemetryAttributes, error?: SpanError): void {
    const seconds = (performance.now() - started) / 1_000;
    this.#telemetry.record("messaging.client.operation.duration", seconds, {
      ...attributes,
      ...errorAttribute(error),
    });
  }

  /** Counts by name of the jobs. */
  #count(jobs: readonly NewJob[], added: readonly Added[]): void {
    const attributes = {
      "messaging.system": "echomq",
      "messaging.destination.name": this.#queue,
    };
    for (const duplicate of [false, true]) {
      const counts = new Map<string, number>();
      jobs.forEach(({ name }, at) => {
        if (added[at]?.duplicate === duplicate) counts.set(name, (counts.get(name) ?? 0) + 1);
      });
      const counter = duplicate ? "echomq.jobs.duplicated" : "echomq.jobs.added";
      for (const [name, count] of counts)
        this.#telemetry.count(counter, count, { ...attributes, "echomq.job.name": name });
    }
  }
}

/** The job as it is sent, with the context its run goes on from. */
function carrying(job: NewJob, context: TraceContext | undefined): NewJob {
  if (context === undefined) return job;
  return { ...job, opts: { ...job.opts, stored: withContext(job.opts.stored, context) } };
}

function addedAttributes(added: Added | undefined): TelemetryAttributes {
  if (added === undefined) return {};
  return {
    "messaging.message.id": added.id,
    ...(added.duplicate ? { "echomq.job.duplicate": true } : {}),
  };
}
