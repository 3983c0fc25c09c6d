import { dumpAll, type KeyDump } from "@echomq/testkit";
import type { Redis } from "ioredis";
import * as scripts from "../../src/index.js";
import {
  encodeCall,
  isDriverFault,
  type Reply,
  type Script,
  type ScriptName,
  SPECS,
} from "../../src/index.js";
import type { AnyCall, EncodedCall } from "../../src/registry/codec.js";
import type { Bench } from "./bench.js";
import { validCalls } from "./population.js";

/** Any of the scripts by its name. */
export function scriptOf(name: ScriptName): Script {
  return Reflect.get(scripts, `${name}Script`) as Script;
}

/** KEYS and ARGV of the valid call of a script. */
export function encodedCall(name: ScriptName, q: string): EncodedCall {
  return encodeCall(SPECS[name], validCalls(q)[name] as unknown as AnyCall);
}

/** The outcome of a raw call: the reply, or the text of the error. */
export type Outcome = { readonly reply: Reply } | { readonly error: string };

/** Sends a script past the dispatcher, with whatever keys and arguments. */
export async function raw(
  b: Bench,
  name: ScriptName,
  { keys, argv }: EncodedCall,
): Promise<Outcome> {
  const command = ["EVAL", scriptOf(name).source, String(keys.length), ...keys, ...argv];
  try {
    return { reply: await b.driver.command(command) };
  } catch (error) {
    if (!isDriverFault(error, "reply")) throw error;
    return { error: error.message };
  }
}

/** A digest of everything the server holds: content, types and expiry. */
export async function digest(redis: Redis): Promise<string> {
  const batch = redis.pipeline().dbsize().call("DEBUG", "DIGEST");
  return JSON.stringify(await batch.exec());
}

/** Puts the server back to what `dumpAll` saw. */
export async function restoreAll(redis: Redis, dump: ReadonlyMap<string, KeyDump>): Promise<void> {
  const batch = redis.pipeline().flushall();
  for (const [key, { dump: bytes }] of dump) batch.restore(key, 0, Buffer.from(bytes, "base64"));
  for (const [error] of (await batch.exec()) ?? []) if (error) throw error;
}

/** Puts one key back to what `dumpAll` saw. */
export async function restoreKey(
  redis: Redis,
  key: string,
  dump: ReadonlyMap<string, KeyDump>,
): Promise<void> {
  const known = dump.get(key);
  if (known) await redis.restore(key, 0, Buffer.from(known.dump, "base64"), "REPLACE");
  else await redis.del(key);
}

export const TYPES = ["string", "list", "hash", "set", "zset", "stream"] as const;

/** Puts a key of a type in place of whatever stands there. */
export async function place(redis: Redis, key: string, type: string): Promise<void> {
  const batch = redis.pipeline().del(key);
  if (type === "string") batch.set(key, "x");
  if (type === "list") batch.rpush(key, "x");
  if (type === "hash") batch.hset(key, "x", "x");
  if (type === "set") batch.sadd(key, "x");
  if (type === "zset") batch.zadd(key, 1, "x");
  if (type === "stream") batch.xadd(key, "*", "x", "x");
  await batch.exec();
}

export { dumpAll };
