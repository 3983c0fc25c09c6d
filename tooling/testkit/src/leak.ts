import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import { openClient } from "./client.js";
import { HandleWatch } from "./handles.js";

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
  readonly #client: Redis;
  readonly #options: LeakOptions;
  readonly #connections: ReadonlySet<string>;
  readonly #handles: HandleWatch = new HandleWatch();

  private constructor(client: Redis, options: LeakOptions, connections: ReadonlySet<string>) {
    this.#client = client;
    this.#options = options;
    this.#connections = connections;
  }

  /** Notes what is open now. Use a server of the test's own, or give `name`. */
  static async start(url: string, options: LeakOptions = {}): Promise<LeakCheck> {
    const client = await openClient(url, OWN_NAME);
    const open = await connections(client, options.name);
    return new LeakCheck(client, options, new Set(open.keys()));
  }

  /**
   * Ends the check.
   * @throws Error that lists each connection and handle opened since the start and still open.
   */
  async end(): Promise<void> {
    const end = Date.now() + (this.#options.withinMs ?? 3000);
    try {
      let left = await this.#left();
      while (left.length > 0 && Date.now() < end) {
        await sleep(PAUSE_MS);
        left = await this.#left();
      }
      if (left.length > 0) throw new Error(`left open: ${left.join("; ")}`);
    } finally {
      this.#handles.end();
      this.#client.disconnect();
    }
  }

  async #left(): Promise<string[]> {
    const open = await connections(this.#client, this.#options.name);
    const left = [...open].filter(([id]) => !this.#connections.has(id));
    // Node tells of a closed handle one turn late.
    await immediate();
    return [...left.map(([, line]) => `connection ${line}`), ...this.#handles.left()];
  }
}

async function connections(client: Redis, name?: string): Promise<Map<string, string>> {
  const list = String(await client.client("LIST"));
  const open = new Map<string, string>();
  for (const line of list.split("\n")) {
    const field = (key: string): string => new RegExp(`(?:^| )${key}=(\\S*)`).exec(line)?.[1] ?? "";
    if (line === "" || field("name") === OWN_NAME) continue;
    if (name !== undefined && !field("name").startsWith(name)) continue;
    open.set(field("id"), `${field("addr")} name=${field("name")} cmd=${field("cmd")}`);
  }
  return open;
}
