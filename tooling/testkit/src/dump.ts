import type { Redis } from "ioredis";
import { openClient } from "./client.js";

/** All of one key, so that two dumps are equal exactly when nothing changed. */
export interface KeyDump {
  readonly type: string;
  /** Moment the key expires, in milliseconds since 1970; -1 without one. It does not count down. */
  readonly ttl: number;
  /** What `DUMP` answers, in base64. */
  readonly dump: string;
}

/** Every key that matches a glob pattern with its type, expiry and content, sorted by key. */
export async function dumpAll(
  source: string | Redis,
  pattern = "*",
): Promise<Map<string, KeyDump>> {
  if (typeof source !== "string") return readAll(source, pattern);
  const client = await openClient(source, "echomq-dump");
  try {
    return await readAll(client, pattern);
  } finally {
    client.disconnect();
  }
}

async function readAll(client: Redis, pattern: string): Promise<Map<string, KeyDump>> {
  const keys = await scan(client, pattern);
  const batch = client.pipeline();
  for (const key of keys) {
    batch.type(key);
    // PTTL would count down between two dumps.
    batch.pexpiretime(key);
    batch.dumpBuffer(key);
  }
  const replies = (await batch.exec()) ?? [];
  const found = new Map<string, KeyDump>();
  keys.forEach((key, index) => {
    const [type, ttl, dump] = [0, 1, 2].map((offset) => answerOf(replies[index * 3 + offset]));
    // A key that expired since the scan has no dump.
    if (!Buffer.isBuffer(dump)) return;
    found.set(textOf(key), {
      type: String(type),
      ttl: Number(ttl),
      dump: dump.toString("base64"),
    });
  });
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function scan(client: Redis, pattern: string): Promise<Buffer[]> {
  const keys = new Map<string, Buffer>();
  let cursor = "0";
  do {
    const [next, page] = await client.scanBuffer(cursor, "MATCH", pattern, "COUNT", 1000);
    for (const key of page) keys.set(key.toString("hex"), key);
    cursor = next.toString();
  } while (cursor !== "0");
  return [...keys.values()];
}

function answerOf(reply: [Error | null, unknown] | undefined): unknown {
  if (reply?.[0]) throw reply[0];
  return reply?.[1];
}

function textOf(key: Buffer): string {
  const text = key.toString("utf8");
  return Buffer.from(text, "utf8").equals(key) ? text : `hex:${key.toString("hex")}`;
}
