import {
  type QueueKeys,
  queueKeys,
  reserveKey,
  stampKey,
  type Unit,
  unitKey,
  ValidationError,
} from "@echomq/wire";
import type { Reply } from "../driver/types.js";
import { readJobs } from "./jobs.js";
import { DIGITS, layoutOf, type RowLayout, SMALL } from "./layout.js";
import type { ArgSpec, KeyName, ReplySpec, ScriptSpec } from "./spec.js";

/** Keys and arguments of one call, as they go on the wire. */
export interface EncodedCall {
  readonly keys: readonly string[];
  readonly argv: readonly string[];
}

/** A call of any script: what `CallOf` is for one of them. */
export type AnyCall = {
  readonly q: string;
  readonly args: Readonly<Record<string, string | number>>;
} & Readonly<Record<string, unknown>>;

/**
 * Turns a call into `KEYS` and `ARGV` by the script's data: fixed keys and groups; small numbers,
 * other single arguments and rows.
 * @throws ValidationError `VALIDATION` naming the argument that is not a whole number or not text, or
 * the group or table that is over the script's bound.
 */
export function encodeCall(spec: ScriptSpec, given: AnyCall): EncodedCall {
  const keys = fixedKeys(spec, given.q).slice();
  const counts: number[] = [];
  // Looked for where there is a job to name: some scripts are of no queue.
  let of: QueueKeys | undefined;
  for (const group of spec.groups) {
    const ids = listOf(spec, given, group.name) as readonly string[];
    counts.push(ids.length);
    for (const id of ids) {
      if (group.kinds === "raw") keys.push(id);
      else {
        of ??= keysOf(given.q);
        for (const kind of group.kinds) keys.push(of.kind(kind, id));
      }
    }
  }
  const lists: (readonly unknown[])[] = [];
  for (const table of spec.tables) {
    const list = listOf(spec, given, table.name);
    lists.push(list);
    counts.push(list.length);
  }
  const { small, single, rows } = layoutOf(spec);
  const argv: string[] = [];
  if (small.length > 0) {
    let text = "";
    for (let at = 0; at < small.length; at += 1) {
      const arg = small[at] as ArgSpec;
      text += digitsOf(spec, arg, at < counts.length ? counts[at] : given.args[arg.name]);
    }
    argv.push(text);
  }
  for (const arg of single) argv.push(encodeArg(spec, arg, given.args[arg.name]));
  for (let at = 0; at < rows.length; at += 1) {
    const { numbers, cells } = rows[at] as RowLayout;
    for (const row of lists[at] as readonly Record<string, string | number>[]) {
      if (numbers.length > 0) argv.push(joined(spec, numbers, row));
      for (let n = 0; n < cells.length; n += 1) {
        const cell = cells[n] as ArgSpec;
        const text = row[cell.name];
        if (cell.type === "text" && typeof text === "string") argv.push(text);
        else argv.push(encodeArg(spec, cell, text));
      }
    }
  }
  return { keys, argv };
}

/** Numbers as they stand in the argument that the small ones share. */
const DIGITS_OF: readonly string[] = Array.from({ length: SMALL + 1 }, (_, value) =>
  String(value).padStart(DIGITS, "0"),
);

function digitsOf(spec: ScriptSpec, arg: ArgSpec, value: string | number | undefined): string {
  const known = typeof value === "number" && value <= (arg.most ?? SMALL);
  return (known && DIGITS_OF[value]) || encodeArg(spec, arg, value).padStart(DIGITS, "0");
}

function joined(
  spec: ScriptSpec,
  numbers: readonly ArgSpec[],
  row: Readonly<Record<string, string | number>>,
): string {
  let text = "";
  for (let n = 0; n < numbers.length; n += 1) {
    const arg = numbers[n] as ArgSpec;
    if (n > 0) text += " ";
    text += encodeArg(spec, arg, row[arg.name]);
  }
  return text;
}

/** Builders by queue: a name is checked once, not with every key. The oldest goes when there are many. */
const builders = new Map<string, QueueKeys>();

function keysOf(q: string): QueueKeys {
  const known = builders.get(q);
  if (known) return known;
  const made = queueKeys(q);
  if (builders.size >= 1_000) builders.delete(builders.keys().next().value ?? q);
  builders.set(q, made);
  return made;
}

/** The fixed keys of a script, by queue: they are the same with every call. */
const fixed = new WeakMap<ScriptSpec, Map<string, readonly string[]>>();

function fixedKeys(spec: ScriptSpec, q: string): readonly string[] {
  const queues = fixed.get(spec) ?? new Map<string, readonly string[]>();
  const known = queues.get(q);
  if (known) return known;
  const made = spec.keys.map((name) => fixedKey(name, q));
  if (queues.size >= 1_000) queues.clear();
  queues.set(q, made);
  fixed.set(spec, queues);
  return made;
}

/** The full name of a fixed key for a queue. */
export function fixedKey(name: KeyName, q: string): string {
  if (name === "stamp") return stampKey(q);
  if (!name.startsWith("reserve:")) return unitKey(q, name as Unit);
  const reserved = name.slice("reserve:".length) as Parameters<typeof reserveKey>[0];
  return reserved === "migration" ? reserveKey(reserved, q) : reserveKey(reserved);
}

function listOf(spec: ScriptSpec, call: AnyCall, name: string): readonly unknown[] {
  const list = call[name];
  if (!Array.isArray(list) || list.length > spec.bound) {
    throw new ValidationError({
      option: `${spec.name}.${name}`,
      reason: `must be a list of at most ${spec.bound}`,
    });
  }
  return list;
}

function encodeArg(
  spec: ScriptSpec,
  arg: ScriptSpec["args"][number],
  value: string | number | undefined,
): string {
  if (arg.type === "text" && typeof value === "string") return value;
  const most = arg.most ?? Number.MAX_SAFE_INTEGER;
  if (arg.type === "int" && Number.isSafeInteger(value)) {
    const whole = value as number;
    // `+ 0` writes minus zero as 0.
    if (whole >= 0 && whole <= most) return String(whole + 0);
  }
  throw new ValidationError({
    option: `${spec.name}.${arg.name}`,
    reason: arg.type === "int" ? `must be a whole number from 0 to ${most}` : "must be a string",
  });
}

type Reader = (reply: Reply) => unknown;

/** Readers of replies, made once for each part of a script's data. */
const readers = new WeakMap<ReplySpec, Reader>();

/**
 * Reads a reply by the script's data.
 * @throws TypeError when the server answered in another shape, which only a wrong script can do.
 */
export function decodeReply(spec: ReplySpec, reply: Reply): unknown {
  return readerOf(spec)(reply);
}

function readerOf(spec: ReplySpec): Reader {
  const known = readers.get(spec);
  if (known) return known;
  const made = makeReader(spec);
  readers.set(spec, made);
  return made;
}

function makeReader(spec: ReplySpec): Reader {
  switch (spec.type) {
    case "text":
      return (reply) => {
        if (typeof reply === "string") return reply;
        return typeof reply === "number" ? String(reply) : wrongShape(spec);
      };
    case "int":
      return (reply) => (typeof reply === "number" ? reply : wrongShape(spec));
    case "maybe": {
      const read = readerOf(spec.of);
      return (reply) => (reply === null ? null : read(reply));
    }
    case "list": {
      const read = readerOf(spec.of);
      return (reply) => {
        if (!Array.isArray(reply)) return wrongShape(spec);
        // Not `map`: V8 makes lists of several kinds by it, and throws compiled code away that meets another.
        const list: unknown[] = [];
        for (const item of reply as readonly Reply[]) list.push(read(item));
        return list;
      };
    }
    case "jobs":
      return (reply) =>
        Array.isArray(reply) ? (readJobs(reply) ?? wrongShape(spec)) : wrongShape(spec);
    case "record": {
      const names = spec.fields.map(([name]) => name);
      // Assigned, this one name would be the prototype.
      if (names.includes("__proto__")) return (reply) => Object.fromEntries(entries(spec, reply));
      const parts = spec.fields.map(([, of]) => readerOf(of));
      return (reply) => {
        if (!Array.isArray(reply) || reply.length !== names.length) return wrongShape(spec);
        const record: Record<string, unknown> = {};
        for (let at = 0; at < names.length; at += 1) {
          record[names[at] as string] = (parts[at] as Reader)(reply[at] as Reply);
        }
        return record;
      };
    }
  }
}

function entries(spec: ReplySpec & { type: "record" }, reply: Reply): [string, unknown][] {
  if (!Array.isArray(reply) || reply.length !== spec.fields.length) return wrongShape(spec);
  return spec.fields.map(([name, of], at) => [name, decodeReply(of, reply[at] as Reply)]);
}

function wrongShape(spec: ReplySpec): never {
  throw new TypeError(`reply is not of the declared shape (${spec.type})`);
}
