const BASE_MS = 100;
const CAP_MS = 2000;

/** Pause before connect attempt `failures + 1`, in milliseconds: 100 to 2000, doubling, with jitter. */
export function backoffMs(failures: number, random: () => number = Math.random): number {
  const full = Math.min(CAP_MS, BASE_MS * 2 ** Math.min(failures, 10));
  return Math.max(BASE_MS, Math.round(full * (0.5 + random() / 2)));
}
