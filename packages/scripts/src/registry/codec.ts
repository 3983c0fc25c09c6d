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
import type { KeyName, ReplySpec, ScriptSpec } from "./spec.js";

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
 * Turns a call into `KEYS` and `ARGV` by the script's data: fixed keys, groups, then counts, single
 * arguments and rows.
 * @throws ValidationError `VALIDATION` naming the argument that is not a whole number or not text, or
 * the group or table that is over the script's bound.
 */
export function encodeCall(spec: ScriptSpec, given: AnyCall): EncodedCall {
  const keys = spec.keys.map((name) => fixedKey(name, given.q));
  const argv: string[] = [];
  for (const group of spec.groups) {
    const ids = listOf(spec, given, group.name) as readonly string[];
    argv.push(String(ids.length));
    for (const id of ids) {
      if (group.kinds === "raw") keys.push(id);
      else for (const kind of group.kinds) keys.push(keysOf(given.q).kind(kind, id));
    }
  }
  const rows = spec.tables.map((table) => listOf(spec, given, table.name));
  for (const list of rows) argv.push(String(list.length));
  for (const arg of spec.args) argv.push(encodeArg(spec, arg, given.args[arg.name]));
  spec.tables.forEach((table, at) => {
    for (const row of rows[at] as readonly Record<string, string | number>[]) {
      for (const column of table.columns) argv.push(encodeArg(spec, column, row[column.name]));
    }
  });
  return { keys, argv };
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

/**
 * Reads a reply by the script's data.
 * @throws TypeError when the server answered in another shape, which only a wrong script can do.
 */
export function decodeReply(spec: ReplySpec, reply: Reply): unknown {
  switch (spec.type) {
    case "text":
      if (typeof reply === "string") return reply;
      if (typeof reply === "number") return String(reply);
      break;
    case "int":
      if (typeof reply === "number") return reply;
      break;
    case "maybe":
      return reply === null ? null : decodeReply(spec.of, reply);
    case "list":
      if (Array.isArray(reply)) return reply.map((item: Reply) => decodeReply(spec.of, item));
      break;
    case "record":
      if (Array.isArray(reply) && reply.length === spec.fields.length) {
        return Object.fromEntries(
          spec.fields.map(([name, of], at) => [name, decodeReply(of, reply[at] as Reply)]),
        );
      }
  }
  throw new TypeError(`reply is not of the declared shape (${spec.type})`);
}
