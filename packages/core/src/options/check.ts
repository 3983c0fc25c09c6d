import { utf8Length, ValidationError } from "@echomq/wire";
import { elsewhere } from "./elsewhere.js";

/** Refuses an option. */
export function refuse(option: string, reason: string): never {
  throw new ValidationError({ option, reason });
}

/** Shows a bad value shortly and without calling anything of it. */
export function shown(value: unknown): string {
  if (typeof value === "string")
    return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (typeof value === "object" && value !== null)
    return Array.isArray(value) ? "an array" : "an object";
  if (typeof value === "function") return "a function";
  return String(value);
}

/**
 * A whole number within bounds, or undefined where the option is absent.
 * @throws ValidationError `VALIDATION` naming the option.
 */
export function whole(
  option: string,
  value: unknown,
  min: number,
  max: number,
): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max)
    return value;
  return refuse(option, `must be a whole number from ${min} to ${max}, got ${shown(value)}`);
}

/** @throws ValidationError `VALIDATION` naming the option. */
export function flag(option: string, value: unknown): boolean | undefined {
  if (value === undefined || typeof value === "boolean") return value;
  return refuse(option, `must be true or false, got ${shown(value)}`);
}

/**
 * What an object gives for known keys, as a copy: each value is read once, what is `undefined` is not
 * given, and what the caller changes later reaches nobody unchecked.
 * @throws ValidationError `VALIDATION` naming an unknown key, with the nearest known one, or a key that
 * cannot be read.
 */
export function record(
  option: string,
  value: unknown,
  known: readonly string[],
): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return refuse(option, `must be an object, got ${shown(value)}`);
  }
  for (const key of readable(option, () => Object.keys(value))) {
    if (known.includes(key)) continue;
    const near = nearest(key, known);
    const advice = near ? `did you mean ${near}?` : elsewhere(key);
    refuse(`${option}.${key}`, `is not an option${advice ? `; ${advice}` : ""}`);
  }
  const given: Record<string, unknown> = {};
  for (const key of known) {
    const one = property(option, value, key);
    if (one !== undefined) given[key] = one;
  }
  return given;
}

/**
 * One property of a value of the caller's.
 * @throws ValidationError `VALIDATION` naming it, where its getter throws.
 */
export function property(option: string, value: object, key: string): unknown {
  try {
    return (value as Readonly<Record<string, unknown>>)[key];
  } catch (thrown) {
    return refuse(`${option}.${key}`, `cannot be read: ${messageOf(thrown)}`);
  }
}

/**
 * What a look at a value of the caller's gives.
 * @throws ValidationError `VALIDATION` naming the option, where the look throws.
 */
export function readable<T>(option: string, look: () => T): T {
  try {
    return look();
  } catch (thrown) {
    return refuse(option, `cannot be read: ${messageOf(thrown)}`);
  }
}

/** The first line of what was thrown, whatever it is; V8 draws a circle over several. */
export function messageOf(thrown: unknown): string {
  try {
    const text = thrown instanceof Error ? thrown.message : thrown;
    return String(text).split("\n", 1)[0]?.slice(0, 200) ?? "";
  } catch {
    return "it threw a value that cannot be read";
  }
}

/**
 * Unix ms of a `Date`, also one of another realm, or of a whole number; undefined for what is neither, or
 * lies outside of what a `Date` can tell.
 */
export function momentOf(value: unknown): number | undefined {
  const date = Object.prototype.toString.call(value) === "[object Date]";
  const time = date ? Number(value) : value;
  const known = typeof time === "number" && Number.isInteger(time) && time >= 0;
  return known && time <= DATE_MAX ? time : undefined;
}

/** Latest time a `Date` can tell. */
const DATE_MAX = 8_640_000_000_000_000;

/**
 * Text for a name: 1 to 512 UTF-8 bytes, no control characters, well-formed.
 * @throws ValidationError `VALIDATION` naming the option.
 */
export function nameText(option: string, value: unknown): string {
  if (typeof value !== "string") return refuse(option, `must be a string, got ${shown(value)}`);
  if (value === "") return refuse(option, "must not be empty");
  if (value.length > 512 || utf8Length(value) > 512)
    return refuse(option, `must be at most 512 UTF-8 bytes, got ${shown(value)}`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\u0000-\u001f\u007f-\u009f]/.test(value))
    return refuse(option, `must hold no control characters, got ${shown(value)}`);
  if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(value)) {
    return refuse(option, `must be well-formed Unicode, got ${shown(value)}`);
  }
  return value;
}

/** The known word within two edits, if there is one. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  return known
    .map((name) => ({ name, far: distance(lower, name.toLowerCase()) }))
    .filter(({ far }) => far <= 2)
    .sort((a, b) => a.far - b.far)[0]?.name;
}

/** Levenshtein distance, cut short for words that are far longer than any option. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      next[j] = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same);
    }
    row = next;
  }
  return row[b.length] ?? 3;
}
