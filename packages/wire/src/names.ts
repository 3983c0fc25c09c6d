import { ValidationError } from "./errors.js";
import { LIMITS } from "./limits.js";
import { quoted } from "./printable.js";
import { scanText } from "./text.js";

/**
 * Checks a queue name and returns it bare: `orders` and `{orders}` both give `orders`.
 * @throws ValidationError `VALIDATION` naming `option`.
 */
export function queueName(value: unknown, option = "queue"): string {
  if (typeof value !== "string") throw refuse(option, notText(value));
  const name = bare(value);
  const fault = queueFault(name);
  if (fault !== null) throw refuse(option, `${fault}, got ${quoted(value)}`);
  return name;
}

/**
 * Puts a queue name between braces, its hash tag; a wrapped name stays as it is.
 * @throws ValidationError `VALIDATION` naming `queue`.
 */
export function wrap(queue: string): string {
  return `{${queueName(queue)}}`;
}

/**
 * Checks an id of a job, scheduler or deduplication: 1 to 512 UTF-8 bytes of anything but control
 * characters.
 * @throws ValidationError `VALIDATION` naming `option`.
 */
export function jobId(value: unknown, option = "jobId"): string {
  if (typeof value !== "string") throw refuse(option, notText(value));
  const fault = idFault(value);
  if (fault !== null) throw refuse(option, `${fault}, got ${quoted(value)}`);
  return value;
}

/** Takes one pair of braces off, checking nothing. */
export function bare(name: string): string {
  return name.length >= 2 && name.startsWith("{") && name.endsWith("}") ? name.slice(1, -1) : name;
}

/** Says what is wrong with a bare queue name, or null. */
export function queueFault(name: string): string | null {
  if (name === "") return "must not be empty";
  const fault = textFault(name, LIMITS.queueBytes);
  if (fault !== null) return fault;
  if (/[{}]/.test(name)) return "must hold no braces except one pair around the whole name";
  if (name.includes(":")) return "must hold no colon, which separates the parts of a key";
  if (name.startsWith(" ") || name.endsWith(" ")) return "must not begin or end with a space";
  if (name === "emq") return 'must not be "emq", which is reserved for keys of the server';
  return null;
}

/** Says what is wrong with an id, or null. */
export function idFault(id: string): string | null {
  return id === "" ? "must not be empty" : textFault(id, LIMITS.idBytes);
}

function textFault(text: string, maxBytes: number): string | null {
  // a code unit is at least one byte, so a huge text is refused without a walk over it
  if (text.length > maxBytes) return `must be at most ${maxBytes} UTF-8 bytes`;
  const { bytes, control, loneSurrogate } = scanText(text);
  if (control !== -1) return `must hold no control characters (one at offset ${control})`;
  if (loneSurrogate !== -1) {
    return `must be well-formed Unicode (lone surrogate at offset ${loneSurrogate})`;
  }
  return bytes > maxBytes ? `must be at most ${maxBytes} UTF-8 bytes, has ${bytes}` : null;
}

function notText(value: unknown): string {
  const kind = value === null ? "null" : Array.isArray(value) ? "an array" : `type ${typeof value}`;
  const hint = typeof value === "number" || typeof value === "bigint" ? "; use String(value)" : "";
  return `must be a string, got ${kind}${hint}`;
}

function refuse(option: string, reason: string): ValidationError {
  return new ValidationError({ option, reason });
}
