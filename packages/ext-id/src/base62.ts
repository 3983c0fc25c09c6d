import { IdError, shown } from "./errors.js";
import { MAX_ID } from "./layout.js";
import type { SnowflakeId } from "./snowflake.js";
import { parseId } from "./snowflake.js";

/** Digits in byte order, so that the order of texts is the order of numbers. */
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const VALUES: ReadonlyMap<string, bigint> = new Map([...DIGITS].map((d, i) => [d, BigInt(i)]));

/** Characters that hold 63 bits. */
const WIDTH = 11;

/**
 * Writes a decimal id as 11 characters `0-9A-Za-z`, padded on the left with `0`.
 * @throws IdError `ID` when the text is no decimal of 63 bits.
 */
export function toBase62(id: string): string {
  let rest = parseId(id);
  let text = "";
  while (text.length < WIDTH) {
    text = DIGITS.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}

/**
 * Reads 11 characters of base62 as a decimal id.
 * @throws IdError `ID` for another length, another character, or a number above 63 bits.
 */
export function fromBase62(text: string): SnowflakeId {
  if (typeof text !== "string" || text.length !== WIDTH) throw refuse(text);
  let id = 0n;
  for (const digit of text) {
    const value = VALUES.get(digit);
    if (value === undefined) throw refuse(text);
    id = id * 62n + value;
  }
  if (id > MAX_ID) throw refuse(text);
  return id.toString() as SnowflakeId;
}

function refuse(text: unknown): IdError {
  return new IdError(`base62: must be 11 characters 0-9A-Za-z within 63 bits, got ${shown(text)}`);
}
