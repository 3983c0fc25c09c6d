export { createOtelTelemetry } from "./create.js";
export type { OtelTelemetryOptions } from "./options.js";
