import { IdError, shown } from "./errors.js";
import type { IdParts } from "./layout.js";
import { EPOCH_MS, MAX_ID, pack, part, unpack } from "./layout.js";

declare const tag: unique symbol;

/** A snowflake id as a decimal string without leading zeros. */
export type SnowflakeId = string & { readonly [tag]: "SnowflakeId" };

/** An id taken apart. */
export interface DecodedId extends IdParts {
  /** Unix time in ms at which the id was minted, by its mint's clock. */
  readonly timestamp: number;
}

/**
 * Takes a decimal id apart.
 * @throws IdError `ID` when the text is no decimal of 63 bits.
 */
export function decode(id: string): DecodedId {
  const parts = unpack(parseId(id));
  return { timestamp: EPOCH_MS + parts.ts, ...parts };
}

/**
 * Builds a decimal id from its parts, the inverse of `decode`. `ts` counts ms since `EPOCH_MS`.
 * @throws IdError `ID` naming the part that is out of range.
 */
export function encode(parts: IdParts): SnowflakeId {
  const ts = part("ts", parts.ts);
  const node = part("node", parts.node);
  return pack({ ts, node, seq: part("seq", parts.seq) }).toString() as SnowflakeId;
}

/** Tells whether a value is a decimal id: digits without a leading zero, at most 2^63 - 1. */
export function isSnowflakeId(value: unknown): value is SnowflakeId {
  if (typeof value !== "string" || !/^(?:0|[1-9][0-9]{0,18})$/.test(value)) return false;
  return value.length < 19 || BigInt(value) <= MAX_ID;
}

/** Reads a decimal id as a number. @throws IdError `ID`. */
export function parseId(id: unknown): bigint {
  if (isSnowflakeId(id)) return BigInt(id);
  throw new IdError(`id: must be a decimal string from 0 to ${MAX_ID}, got ${shown(id)}`);
}
