import { IdError, shown } from "./errors.js";

/** Time zero of every id: 2024-01-01T00:00:00Z in unix ms. */
export const EPOCH_MS = 1704067200000;

/** Bits of each part; the whole is a 63-bit number: time, then node, then sequence. */
export const BITS = { ts: 41, node: 10, seq: 12 } as const;

/** Largest value of each part. */
export const MAX: Readonly<Record<keyof typeof BITS, number>> = {
  ts: 2 ** BITS.ts - 1,
  node: 2 ** BITS.node - 1,
  seq: 2 ** BITS.seq - 1,
};

/** Largest id. */
export const MAX_ID: bigint = 2n ** 63n - 1n;

/** Parts of an id. */
export interface IdParts {
  /** Milliseconds since `EPOCH_MS`, 0 to 2^41 - 1. */
  readonly ts: number;
  /** Node that minted it, 0 to 1023. */
  readonly node: number;
  /** Sequence within the millisecond, 0 to 4095. */
  readonly seq: number;
}

/** Puts checked parts together. */
export function pack(parts: IdParts): bigint {
  return (BigInt(parts.ts) << 22n) | (BigInt(parts.node) << 12n) | BigInt(parts.seq);
}

/** Takes a number of 63 bits apart. */
export function unpack(id: bigint): IdParts {
  return {
    ts: Number(id >> 22n),
    node: Number((id >> 12n) & BigInt(MAX.node)),
    seq: Number(id & BigInt(MAX.seq)),
  };
}

/** Checks one part of an id. @throws IdError `ID` naming the part. */
export function part(name: keyof typeof BITS, value: unknown): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX[name]) {
    return value;
  }
  throw new IdError(`${name}: must be a whole number from 0 to ${MAX[name]}, got ${shown(value)}`);
}
