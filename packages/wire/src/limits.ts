/** Numbers every client and script of the wire agrees on. */
export const LIMITS = {
  /** Longest queue name, in UTF-8 bytes. */
  queueBytes: 128,
  /** Longest job, scheduler or deduplication id, in UTF-8 bytes. */
  idBytes: 512,
  /** Largest priority: 2^21 would push scores past 2^53 and lose order. */
  priorityMax: 2_097_151,
  /** Distance of two priorities in a score; the sequence runs below it. */
  priorityStep: 4_294_967_296,
  /** Parts of a millisecond a delayed score can hold to keep the order of equal times. */
  delayParts: 4_096,
  /** Most wake-up members in `marker`. */
  markerMax: 16,
  /** Most jobs one writing script touches. */
  writeBound: 500,
  /** Longest wait of a blocking read, in ms. */
  blockMs: 5_000,
  /** Most ids in one stream entry. */
  eventIds: 100,
  /** Largest stream entry, in bytes. */
  eventBytes: 65_536,
  /** Event streams shorter than this are trimmed exactly. */
  exactTrim: 1_000,
  /** Age after which a flow that was never committed is dropped, in ms. */
  stagedMs: 60_000,
} as const;
