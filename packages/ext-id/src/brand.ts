import { fromBase62, toBase62 } from "./base62.js";
import { IdError, shown } from "./errors.js";
import type { SnowflakeId } from "./snowflake.js";

/** A branded id taken apart. */
export interface Unbranded {
  readonly id: SnowflakeId;
  /** Three upper-case letters. */
  readonly namespace: string;
}

const NAMESPACE = /^[A-Z]{3}$/;

/**
 * Brands a decimal id for the outside: three letters and 11 characters of base62.
 * @throws IdError `ID` for a namespace that is not three letters A-Z, or a text that is no id.
 */
export function brand(id: string, namespace = "BAT"): string {
  if (typeof namespace !== "string" || !NAMESPACE.test(namespace)) {
    throw new IdError(`namespace: must be three letters A-Z, got ${shown(namespace)}`);
  }
  return namespace + toBase62(id);
}

/**
 * Takes the brand off.
 * @throws IdError `ID` when the text is no branded id.
 */
export function unbrand(text: string): Unbranded {
  if (typeof text !== "string" || text.length !== 14 || !NAMESPACE.test(text.slice(0, 3))) {
    throw new IdError(
      `branded id: must be three letters A-Z and 11 characters 0-9A-Za-z, got ${shown(text)}`,
    );
  }
  return { id: fromBase62(text.slice(3)), namespace: text.slice(0, 3) };
}
