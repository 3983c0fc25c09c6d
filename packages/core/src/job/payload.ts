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
  // A character has at most three bytes of UTF-8 for each unit of its string.
  if (text.length * 3 > PAYLOAD_MAX && utf8Length(text) > PAYLOAD_MAX) {
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

/** Payloads that could not be read, by the job they belong to. */
const faults = new WeakMap<object, unknown>();

/**
 * Reads a payload or a result. What cannot be read is given as the text it is, and remembered where it
 * belongs to a job: one broken job must not hide the others of a list.
 */
export function readPayload(
  job: object | null,
  codec: { read(text: string): unknown },
  text: string | undefined,
): unknown {
  if (text === undefined || text === "") return undefined;
  try {
    return codec.read(text);
  } catch (error) {
    if (job) faults.set(job, error);
    return text;
  }
}

/** Why the data of a job could not be read; undefined when it could. */
export function payloadFault(job: object): unknown {
  return faults.get(job);
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
