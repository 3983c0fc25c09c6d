import type { Redis } from "ioredis";
import { contentOf } from "./servers.js";

/** Copies every key of a v1 queue to another name. */
export async function cloneQueue(client: Redis, from: string, to: string): Promise<void> {
  const batch = client.pipeline();
  for (const key of await client.keys(`bull:${from}:*`)) batch.copy(key, key.replace(from, to));
  await batch.exec();
}

/** Keys and contents of the v2 side, without what differs from run to run. */
export async function v2State(client: Redis, queue: string): Promise<Map<string, unknown>> {
  const out = new Map<string, unknown>();
  for (const [key, { type, dump }] of await contentOf(client, `emq:{${queue}}:*`)) {
    if (key !== `emq:{${queue}}:v2:meta`) out.set(key.replace(queue, "q"), { type, dump });
  }
  const { migrated, source: _source, ...options } = await client.hgetall(`emq:{${queue}}:v2:meta`);
  if (migrated !== undefined) out.set("options", options);
  return out;
}

/** Keys and contents of the v1 side. */
export async function v1State(client: Redis, queue: string): Promise<Map<string, unknown>> {
  const out = new Map<string, unknown>();
  for (const [key, { type, ttl, dump }] of await contentOf(client, `bull:${queue}:*`)) {
    if (!key.endsWith(":stalled-check")) out.set(key.replace(queue, "q"), { type, ttl, dump });
  }
  return out;
}
