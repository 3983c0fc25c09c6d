// region
import { trace } from "@opentelemetry/api";
import { Queue, type Telemetry, Worker } from "../../src/index.js";
import { createOtelTelemetry } from "../../src/otel/index.js";

// end

/** The code of docs/telemetry.md; resolves to what it saw. */
export async function telemetryExample(connection: string): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {};
  // region
  const telemetry = createOtelTelemetry();

  await using queue = new Queue("mails", { connection, telemetry });
  await using worker = new Worker(
    "mails",
    async (job) => {
      trace.getActiveSpan()?.setAttribute("mail.size", String(job.data).length);
      return "sent";
    },
    { connection, telemetry },
  );
  // end
  const sent = new Promise((resolve) => worker.on("completed", (_job, result) => resolve(result)));
  await queue.add("mail", "hello");
  seen.sent = await sent;

  // region
  const linked = createOtelTelemetry({ continueTraces: false });
  const metricsOnly = createOtelTelemetry({ tracer: false });
  // end
  seen.none = metricsOnly.startSpan({ name: "x", kind: "client", attributes: {} });
  linked.startSpan({ name: "linked", kind: "consumer", attributes: {} })?.end({ attributes: {} });

  // region
  const counts = new Map<string, number>();
  const own: Telemetry = {
    startSpan: () => undefined,
    count: (name, value) => void counts.set(name, (counts.get(name) ?? 0) + value),
    record: (name, seconds) => console.debug(name, seconds),
  };
  // end
  await using counted = new Queue("letters", {
    connection,
    telemetry: { ...own, record: () => undefined },
  });
  await counted.addBulk(["a", "b"].map((name) => ({ name, data: {} })));
  seen.counts = Object.fromEntries(counts);
  return seen;
}
