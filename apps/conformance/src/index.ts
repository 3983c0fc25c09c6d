export type { DriverName } from "./connect/drivers.js";
export type { Engine } from "./connect/engine.js";
export type { Row } from "./outcome.js";
export type { Report, RunOptions } from "./runner.js";
export { runConformance } from "./runner.js";
