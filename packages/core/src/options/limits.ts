/** Longest delay, backoff and age, in ms: ten years. Timers are set in shorter steps. */
export const DELAY_MAX_MS = 315_360_000_000;
/** Most attempts of one job. */
export const ATTEMPTS_MAX = 1_000_000;
/** Most jobs one worker runs at once. */
export const CONCURRENCY_MAX = 10_000;
/** Largest payload or result, in bytes of JSON: a tenth of what Redis takes in one string. */
export const PAYLOAD_MAX = 52_428_800;
/** Shortest and longest lease, in ms. */
export const LEASE_MIN_MS = 100;
export const LEASE_MAX_MS = 86_400_000;
