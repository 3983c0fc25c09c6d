import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import { openClient } from "./client.js";
import { HandleWatch, unwatch } from "./handles.js";

/** Which connections count, and how long closing may take. */
export interface LeakOptions {
  /** Counts only connections whose client name begins with this; needed on a shared server. */
  readonly name?: string;
  /** Time for sockets to close, in milliseconds. Default 3000. */
  readonly withinMs?: number;
}

const OWN_NAME = "echomq-leak-check";
const PAUSE_MS = 25;

/** Finds connections, timers, sockets and child processes that a test opens and does not close. */
export class LeakCheck {
  readonly #url: string;
  readonly #options: LeakOptions;
  readonly #before: ReadonlySet<string>;
  readonly #handles: HandleWatch = new HandleWatch();

  private constructor(url: string, options: LeakOptions, before: ReadonlySet<string>) {
    this.#url = url;
    this.#options = options;
    this.#before = before;
  }

  /** Notes what is open now. Use a server of the test's own, or give `name`. */
  static async start(url: string, options: LeakOptions = {}): Promise<LeakCheck> {
    const client = await unwatch(() => openClient(url, OWN_NAME));
    const before = await connections(client, options.name);
    client.disconnect();
    return new LeakCheck(url, options, new Set(before));
  }

  /**
   * Ends the check; the server must still run.
   * @throws Error that lists each connection and handle opened since the start and still open.
   */
  async end(): Promise<void> {
    const end = Date.now() + (this.#options.withinMs ?? 3000);
    const client = await unwatch(() => openClient(this.#url, OWN_NAME));
    try {
      let left = await this.#left(client);
      while (left.length > 0 && Date.now() < end) {
        await sleep(PAUSE_MS);
        left = await this.#left(client);
      }
      if (left.length > 0) throw new Error(`left open: ${left.join("; ")}`);
    } finally {
      this.#handles.end();
      client.disconnect();
    }
  }

  async #left(client: Redis): Promise<string[]> {
    const open = await connections(client, this.#options.name);
    // Node tells of a closed handle one turn late.
    await immediate();
    const left = open.filter((connection) => !this.#before.has(connection));
    return [...left.map((connection) => `connection ${connection}`), ...this.#handles.left()];
  }
}

/** Open connections as text that stays the same while they are open. */
async function connections(client: Redis, name?: string): Promise<string[]> {
  const list = String(await client.client("LIST"));
  const open: string[] = [];
  for (const line of list.split("\n")) {
    const field = (key: string): string => new RegExp(`(?:^| )${key}=(\\S*)`).exec(line)?.[1] ?? "";
    if (line === "" || field("name") === OWN_NAME) continue;
    if (name !== undefined && !field("name").startsWith(name)) continue;
    open.push(`${field("id")} from ${field("addr")} name=${field("name")}`);
  }
  return open;
}
