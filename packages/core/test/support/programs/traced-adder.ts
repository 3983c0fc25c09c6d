import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { Queue } from "../../../src/index.js";
import { createOtelTelemetry } from "../../../src/otel/index.js";
import { settings, tell } from "./tell.js";

// Adds one job and tells the span it was added in, then ends by itself.
const { url, name } = settings;
const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const telemetry = createOtelTelemetry({ tracer: provider.getTracer("adder"), meter: false });
const queue = new Queue(name, { connection: url, telemetry });
await queue.add("job", {});
const [span] = exporter.getFinishedSpans();
tell(JSON.stringify({ ...span?.spanContext(), kind: span?.kind }));
await queue.close();
await provider.shutdown();
process.disconnect?.();
