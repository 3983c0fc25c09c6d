import { readable, refuse, shown } from "../options/check.js";
import type { Telemetry } from "./types.js";

const METHODS = ["startSpan", "count", "record"] as const;

/**
 * Checks the option `telemetry`.
 * @throws ValidationError `VALIDATION` naming `telemetry`.
 */
export function checkTelemetry(value: unknown): Telemetry | undefined {
  if (value === undefined) return undefined;
  if ((typeof value !== "object" && typeof value !== "function") || value === null) {
    return refuse("telemetry", `must be an object, got ${shown(value)}`);
  }
  const telemetry = value as Telemetry;
  for (const name of METHODS) {
    if (typeof readable("telemetry", () => telemetry[name]) !== "function")
      refuse("telemetry", `must have the methods ${METHODS.join(", ")}; ${name} is none`);
  }
  return telemetry;
}
