import { utf8Length } from "@echomq/wire";
import { refuse, shown } from "../options/check.js";
import { PAYLOAD_MAX } from "../options/limits.js";

/**
 * Writes a payload as JSON. What JSON would drop or change in silence is refused: functions, symbols,
 * BigInt, `NaN` and infinities, at any depth.
 * @throws ValidationError `VALIDATION` naming the option.
 */
export function toJson(option: string, value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, strict);
  } catch (error) {
    refuse(
      option,
      error instanceof Error ? `is not JSON: ${firstLine(String(error.message))}` : "is not JSON",
    );
  }
  if (text === undefined) return refuse(option, `is not JSON: got ${shown(value)}`);
  if (text.length > PAYLOAD_MAX / 4 && utf8Length(text) > PAYLOAD_MAX) {
    refuse(option, `must be at most ${PAYLOAD_MAX} bytes of JSON`);
  }
  return text;
}

/** Reads JSON that another program may have written; what is no JSON is given as the text it is. */
export function fromJson(text: string | null | undefined): unknown {
  if (text === null || text === undefined || text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function strict(this: unknown, key: string, value: unknown): unknown {
  switch (typeof value) {
    case "function":
    case "symbol":
    case "bigint":
      throw new TypeError(`${where(key)} is a ${typeof value}`);
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`${where(key)} is ${value}`);
  }
  return value;
}

function where(key: string): string {
  return key === "" ? "the value" : `property ${shown(key)}`;
}

/** Circular errors of V8 draw the whole path over several lines. */
function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? text;
}
