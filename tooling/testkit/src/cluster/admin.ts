import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import { openClient } from "../client.js";
import type { TestServer } from "../server/server.js";

const PAUSE_MS = 10;

/** Asks one server over a connection of its own, which is gone afterwards. */
export async function ask<T>(server: TestServer, work: (client: Redis) => Promise<T>): Promise<T> {
  const client = await openClient(server.url, "testkit-admin");
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}

/** Reads one field of `INFO` or `CLUSTER INFO`; empty where there is none. */
export function infoField(info: unknown, name: string): string {
  return new RegExp(`^${name}:(.*?)\r?$`, "m").exec(String(info))?.[1] ?? "";
}

/**
 * Waits until `check` gives nothing to complain about.
 * @throws Error with the last complaint after `withinMs` milliseconds.
 */
export async function until(
  check: () => Promise<string | undefined>,
  withinMs = 20_000,
): Promise<void> {
  const end = Date.now() + withinMs;
  for (;;) {
    const complaint = await check();
    if (complaint === undefined) return;
    if (Date.now() > end) throw new Error(`not ready after ${withinMs} ms: ${complaint}`);
    await sleep(PAUSE_MS);
  }
}
