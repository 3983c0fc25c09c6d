import { dumpAll, type KeyDump } from "@echomq/testkit";
import type { Redis } from "ioredis";
import type { V1Client, VerbOutcome } from "./v1-client.js";

/** A server so started keeps small keys packed: `DUMP` of a hash table has no steady order. */
export const STEADY: readonly string[] = ["--hash-max-listpack-value", "65536"];

/** What one call did. */
export interface Tried extends VerbOutcome {
  readonly name: string;
  /** Keys that may never change and did. */
  readonly broke: readonly string[];
  /** Other keys that came, went or changed. They are put back before the next call. */
  readonly left: readonly string[];
}

/**
 * Tries calls one after the other on the same keyspace and compares every key of the server by `DUMP`
 * around each.
 */
export async function tryVerbs(
  client: V1Client,
  redis: Redis,
  names: readonly string[],
  isGuarded: (key: string) => boolean,
): Promise<Tried[]> {
  const tried: Tried[] = [];
  const before = await dumpAll(redis);
  for (const name of names) {
    const outcome = await client.verb(name);
    const changed = differences(before, await dumpAll(redis));
    tried.push({
      ...outcome,
      name,
      broke: changed.filter(isGuarded),
      left: changed.filter((key) => !isGuarded(key)),
    });
    for (const key of changed) await putBack(redis, key, before.get(key));
  }
  return tried;
}

/** Keys that are not the same in two dumps. */
function differences(
  before: ReadonlyMap<string, KeyDump>,
  after: ReadonlyMap<string, KeyDump>,
): string[] {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].filter((key) => {
    const [a, b] = [before.get(key), after.get(key)];
    return a?.dump !== b?.dump || a?.type !== b?.type || a?.ttl !== b?.ttl;
  });
}

async function putBack(redis: Redis, key: string, was: KeyDump | undefined): Promise<void> {
  if (was === undefined) {
    await redis.del(key);
    return;
  }
  const ttl = Math.max(was.ttl, 0);
  await redis.restore(key, ttl, Buffer.from(was.dump, "base64"), "REPLACE", "ABSTTL");
}
