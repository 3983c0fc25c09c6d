import { utf8Length } from "@echomq/wire";
import { messageOf, refuse, shown } from "../options/check.js";
import { PAYLOAD_MAX } from "../options/limits.js";

/**
 * Writes a payload as JSON. What JSON would drop or change in silence is refused: functions, symbols,
 * BigInt, `NaN` and infinities, at any depth.
 * @throws ValidationError `VALIDATION` naming the option.
 */
export function toJson(option: string, value: unknown): string {
  let text: string | undefined;
  try {
    text = isPlain(value, 0) ? JSON.stringify(value) : JSON.stringify(value, strict);
  } catch (error) {
    refuse(option, `is not JSON: ${messageOf(error)}`);
  }
  if (text === undefined) return refuse(option, `is not JSON: got ${shown(value)}`);
  // A character has at most three bytes of UTF-8 for each unit of its string.
  if (text.length * 3 > PAYLOAD_MAX && utf8Length(text) > PAYLOAD_MAX) {
    refuse(option, `must be at most ${PAYLOAD_MAX} bytes of JSON, has ${utf8Length(text)}`);
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

/** Deeper than this a value is looked at while it is written, where a circle is told. */
const PLAIN_DEPTH = 20;

/**
 * True for plain objects and lists of what JSON keeps as it is: to write them without a look at each value
 * takes half the time.
 */
function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value);
    case "object":
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (depth > PLAIN_DEPTH) return false;
  if ("toJSON" in value) return false;
  if (Array.isArray(value)) {
    // By index: methods of a list may be anything, and a hole is written as what is found there.
    for (let at = 0; at < value.length; at += 1) if (!isPlain(value[at], depth + 1)) return false;
    return true;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  for (const key in value) {
    const item = (value as Record<string, unknown>)[key];
    if (item !== undefined && !isPlain(item, depth + 1)) return false;
  }
  return true;
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
