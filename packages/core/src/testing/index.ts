export type { FakeClock } from "./clock.js";
export { createFakeClock } from "./clock.js";
export { drainQueue } from "./drain.js";
export { DrainLimitError } from "./errors.js";
export type { DrainOptions, QueueAddress } from "./options.js";
export type { CompletedJob, Drained, FailedJob } from "./types.js";
