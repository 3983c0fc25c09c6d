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
/** Log lines a job keeps when it does not say, most it may keep, and the longest line in bytes. */
export const KEEP_LOGS = 1_000;
export const KEEP_LOGS_MAX = 100_000;
export const LOG_LINE_MAX = 65_536;
/** Longest window of a rate, timeout of a run and time to live, in ms: 24 days, which one timer holds. */
export const TIMER_MAX_MS = 2_073_600_000;
/** Most jobs of a window or at once in a whole queue. */
export const LIMIT_MAX = 1_000_000_000;
