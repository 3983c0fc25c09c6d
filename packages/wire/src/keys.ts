import { ValidationError } from "./errors.js";
import { bare, idFault, jobId, queueFault, wrap } from "./names.js";
import type { Kind, Reserve, Unit } from "./units.js";
import { isKind, isUnit, RESERVE } from "./units.js";

/** The parts of a key. `q` is the bare queue name. */
export type KeyParts =
  | { readonly type: "stamp"; readonly q: string }
  | { readonly type: "unit"; readonly q: string; readonly unit: Unit }
  | { readonly type: "kind"; readonly q: string; readonly kind: Kind; readonly id: string }
  | { readonly type: "reserve"; readonly name: Reserve; readonly q?: string };

/** A key that is none of the wire's. */
export interface UnclassifiedKey {
  readonly type: "unclassified";
  readonly key: string;
}

/** Builders for the keys of one queue, whose name is checked once. */
export interface QueueKeys {
  /** The bare queue name. */
  readonly q: string;
  /** `emq:{q}:meta`. */
  readonly stamp: string;
  /** `emq:{q}:v2:<unit>`. */
  unit(unit: Unit): string;
  /** `emq:{q}:v2:<kind>:<id>`. @throws ValidationError `VALIDATION` naming the id. */
  kind(kind: Kind, id: string): string;
}

/** Prefix of the keys that belong to the server and not to one queue. */
const RESERVE_PREFIX = "{emq}:";
const QUEUE_PREFIX = "emq:{";

/**
 * Key of a queue's version stamp, `emq:{q}:meta`.
 * @throws ValidationError `VALIDATION` naming `queue`.
 */
export function stampKey(q: string): string {
  return `emq:${wrap(q)}:meta`;
}

/**
 * Key of a queue-level structure, `emq:{q}:v2:<unit>`.
 * @throws ValidationError `VALIDATION` naming `queue` or `unit`.
 */
export function unitKey(q: string, unit: Unit): string {
  return unitAt(`emq:${wrap(q)}:v2:`, unit);
}

/**
 * Key of one id's own data, `emq:{q}:v2:<kind>:<id>`.
 * @throws ValidationError `VALIDATION` naming `queue`, `kind` or the id.
 */
export function kindKey(q: string, kind: Kind, id: string): string {
  return kindAt(`emq:${wrap(q)}:v2:`, kind, id);
}

/**
 * Key of the server's reserve, `{emq}:<name>`; `migration` needs a queue, the others take none.
 * @throws ValidationError `VALIDATION` naming `name` or `queue`.
 */
export function reserveKey(name: Reserve, q?: string): string {
  if (!RESERVE.includes(name)) throw closed("name", name, RESERVE);
  if (name === "migration") return `${RESERVE_PREFIX}migration:${bare(wrap(q as string))}`;
  if (q === undefined) return RESERVE_PREFIX + name;
  throw new ValidationError({ option: "queue", reason: `reserve key ${name} takes no queue` });
}

/**
 * Builders for the keys of one queue.
 * @throws ValidationError `VALIDATION` naming `queue`.
 */
export function queueKeys(queue: string): QueueKeys {
  const tag = wrap(queue);
  const base = `emq:${tag}:v2:`;
  return {
    q: bare(tag),
    stamp: `emq:${tag}:meta`,
    unit: (unit) => unitAt(base, unit),
    kind: (kind, id) => kindAt(base, kind, id),
  };
}

/**
 * Builds a key from its parts, the inverse of `parseKey`.
 * @throws ValidationError `VALIDATION` naming the part.
 */
export function buildKey(parts: KeyParts): string {
  switch (parts.type) {
    case "stamp":
      return stampKey(parts.q);
    case "unit":
      return unitKey(parts.q, parts.unit);
    case "kind":
      return kindKey(parts.q, parts.kind, parts.id);
    case "reserve":
      return reserveKey(parts.name, parts.q);
  }
}

/** Takes a key apart. Total: whatever the wire does not own is `unclassified`, nothing throws. */
export function parseKey(key: string): KeyParts | UnclassifiedKey {
  return (
    (key.startsWith(RESERVE_PREFIX) ? parseReserve(key) : parseQueueKey(key)) ?? {
      type: "unclassified",
      key,
    }
  );
}

function parseReserve(key: string): KeyParts | null {
  const rest = key.slice(RESERVE_PREFIX.length);
  if (rest.startsWith("migration:")) {
    const q = rest.slice("migration:".length);
    return queueFault(q) === null ? { type: "reserve", name: "migration", q } : null;
  }
  const name = RESERVE.find((each) => each === rest);
  return name === undefined || name === "migration" ? null : { type: "reserve", name };
}

function parseQueueKey(key: string): KeyParts | null {
  if (!key.startsWith(QUEUE_PREFIX)) return null;
  const end = key.indexOf("}:", QUEUE_PREFIX.length);
  if (end === -1) return null;
  const q = key.slice(QUEUE_PREFIX.length, end);
  if (queueFault(q) !== null) return null;
  const rest = key.slice(end + 2);
  if (rest === "meta") return { type: "stamp", q };
  return rest.startsWith("v2:") ? parseV2(q, rest.slice(3)) : null;
}

function parseV2(q: string, rest: string): KeyParts | null {
  if (isUnit(rest)) return { type: "unit", q, unit: rest };
  const colon = rest.indexOf(":");
  const kind = rest.slice(0, Math.max(colon, 0));
  const id = rest.slice(colon + 1);
  return isKind(kind) && idFault(id) === null ? { type: "kind", q, kind, id } : null;
}

function unitAt(base: string, unit: Unit): string {
  if (!isUnit(unit)) throw closed("unit", unit, ["a unit of the manifest"]);
  return base + unit;
}

function kindAt(base: string, kind: Kind, id: string): string {
  if (!isKind(kind)) throw closed("kind", kind, ["a kind of the manifest"]);
  const option = kind === "sched" ? "schedulerId" : kind === "dedup" ? "deduplicationId" : "jobId";
  return `${base}${kind}:${jobId(id, option)}`;
}

function closed(option: string, value: unknown, known: readonly string[]): ValidationError {
  const reason = `must be ${known.join(", ")}, got ${String(value).slice(0, 64)}`;
  return new ValidationError({ option, reason });
}
