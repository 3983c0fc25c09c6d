import type { BenchJob } from "./types.js";

const PAYLOAD_BYTES = 100;

/** A job whose data is 100 bytes of JSON. */
export function job(n: number): BenchJob {
  const empty = JSON.stringify({ n, text: "" }).length;
  return { name: "bench", data: { n, text: "x".repeat(PAYLOAD_BYTES - empty) } };
}

/** So many jobs, numbered from 0. */
export function jobs(count: number): BenchJob[] {
  return Array.from({ length: count }, (_, n) => job(n));
}

/** Jobs in lists of at most `size`. */
export function pages(list: readonly BenchJob[], size: number): BenchJob[][] {
  const out: BenchJob[][] = [];
  for (let at = 0; at < list.length; at += size) out.push(list.slice(at, at + size));
  return out;
}
