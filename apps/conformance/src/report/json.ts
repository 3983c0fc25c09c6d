import type { Report } from "../runner.js";

/** The report as one JSON document, for other programs. */
export function jsonReport({ engine, driver, scenarios }: Report): string {
  return `${JSON.stringify({ engine, driver, scenarios }, null, 2)}\n`;
}
