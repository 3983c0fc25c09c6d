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
    refuse(
      option,
      `is not JSON: ${error instanceof Unwritable ? error.where(value) : messageOf(error)}`,
    );
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

/** A value that JSON does not keep, as {@link JSON.stringify} meets it: with its key and what holds it. */
class Unwritable extends Error {
  readonly #holder: unknown;
  readonly #key: string;
  readonly #what: string;

  constructor(holder: unknown, key: string, what: string) {
    super(what);
    this.#holder = holder;
    this.#key = key;
    this.#what = what;
  }

  /** What is wrong, and where in `root`. */
  where(root: unknown): string {
    // At the top JSON puts the value itself into an object of its own, under no name.
    if (this.#key === "") return `the value is ${this.#what}`;
    const path = this.#path(root);
    const item = Array.isArray(this.#holder);
    const own = item ? `[${this.#key}]` : `${path === "" ? "" : "."}${this.#key}`;
    return `property ${shown(path + own)} is ${this.#what}`;
  }

  #path(root: unknown): string {
    try {
      return pathTo(this.#holder, root, 0, new Set()) ?? "";
    } catch {
      // A getter that throws on the way.
      return "";
    }
  }
}

/**
 * How `root` leads to an object; undefined where it does not, as for what a `toJSON` gave. Each object is
 * looked into once, however many lead to it.
 */
function pathTo(
  target: unknown,
  root: unknown,
  depth: number,
  seen: Set<unknown>,
): string | undefined {
  if (root === target) return "";
  if (typeof root !== "object" || root === null || depth > PLAIN_DEPTH || seen.has(root))
    return undefined;
  seen.add(root);
  for (const [key, item] of Object.entries(root)) {
    const rest = pathTo(target, item, depth + 1, seen);
    if (rest === undefined) continue;
    const own = Array.isArray(root) ? `[${key}]` : key;
    return rest === "" || rest.startsWith("[") ? own + rest : `${own}.${rest}`;
  }
  return undefined;
}

function strict(this: unknown, key: string, value: unknown): unknown {
  switch (typeof value) {
    case "function":
    case "symbol":
    case "bigint":
      throw new Unwritable(this, key, `a ${typeof value}`);
    case "number":
      if (!Number.isFinite(value)) throw new Unwritable(this, key, String(value));
  }
  return value;
}
