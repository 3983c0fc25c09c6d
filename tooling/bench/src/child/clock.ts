/** Microseconds of the machine's monotonic clock, which every process of the machine shares. */
export function nowUs(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}
