import { type Handler, type JobMap, Queue, Worker, type WorkerOptions } from "@echomq/core";
import type { RedisDriver } from "@echomq/scripts";
import type { Engine } from "./connect/engine.js";
import type { Seam } from "./connect/seam.js";
import type { Tool } from "./connect/tool.js";
import { Ends } from "./ends.js";
import type { Label, Names } from "./keys/names.js";
import type { OwnKeys } from "./keys/own.js";
import { Broken, Refused } from "./outcome.js";
import type { Sight } from "./sight.js";

/** One promise of the wire, as data. */
export interface Scenario {
  /** Stable: other programs compare reports by it. */
  readonly id: string;
  readonly title: string;
  /** Only with `--strict`. */
  readonly strict?: true;
  /**
   * Returns what was seen.
   * @throws Broken, or Refused where a right is missing.
   */
  run(context: Context): Promise<string>;
}

/** What a run is made of. */
export interface ContextParts {
  readonly names: Names;
  readonly keys: OwnKeys;
  readonly tool: Tool;
  readonly driver: RedisDriver;
  readonly seam: Seam;
  readonly sight: Sight;
  /** What `INFO` said, or why it may not be asked. */
  readonly engine: Engine | Refused;
  readonly strictOn: boolean;
  /** Why strict mode is not on although it was asked for. */
  readonly strictRefused: Refused | undefined;
  /** Whether the server was started for this run alone. */
  readonly ownServer: boolean;
}

/** A server that is gone is to be noticed soon, in ms. */
const RETRY_MS = 2_000;

/** What scenarios work with. */
export class Context {
  readonly names: Names;
  readonly keys: OwnKeys;
  readonly tool: Tool;
  readonly seam: Seam;
  readonly sight: Sight;
  readonly engine: Engine | Refused;
  readonly strictRefused: Refused | undefined;
  readonly ownServer: boolean;
  /** Whether every lane runs under a user that may touch the keys of its present call only. */
  readonly strictOn: boolean;
  readonly #connection: { readonly connection: RedisDriver; readonly retryTime: number };
  readonly #open: { close(): Promise<void> }[] = [];
  /** How the first round trip ended; the scenarios that judge what it left behind ask it. */
  trip: "made" | "broken" | "refused" = "broken";

  constructor(parts: ContextParts) {
    this.names = parts.names;
    this.keys = parts.keys;
    this.tool = parts.tool;
    this.seam = parts.seam;
    this.sight = parts.sight;
    this.engine = parts.engine;
    this.strictOn = parts.strictOn;
    this.strictRefused = parts.strictRefused;
    this.ownServer = parts.ownServer;
    this.#connection = { connection: parts.driver, retryTime: RETRY_MS };
  }

  /** A queue; it is closed when the scenario ends. */
  queue(label: Label): Queue {
    const queue = new Queue(this.names.of(label), this.#connection);
    this.#open.push({ close: () => queue.close() });
    return queue;
  }

  /** The error with which a queue of any name is refused, or undefined. */
  async tryQueue(name: string): Promise<unknown> {
    try {
      await new Queue(name, this.#connection).close();
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** A worker and what became of its jobs; it is closed when the scenario ends. */
  worker(label: Label, handler: Handler<JobMap>, options: Partial<WorkerOptions> = {}): Ends {
    const all = { ...options, ...this.#connection };
    const worker = new Worker(this.names.of(label), handler, all);
    this.#open.push({ close: () => worker.close({ timeout: 0 }) });
    return new Ends(worker);
  }

  /**
   * Makes sure there is something to judge.
   * @throws Refused or Broken, as the round trip ended.
   */
  needTrip(): void {
    if (this.trip === "made") return;
    const why = "no round trip could be made, so there is nothing to judge";
    throw this.trip === "refused" ? new Refused(why) : new Broken(why);
  }

  /** Ends what the scenario opened. Never rejects. */
  async closeOpened(): Promise<void> {
    // Workers first: they hold leases a closing queue knows nothing of.
    for (const one of this.#open.splice(0).reverse()) await one.close().catch(() => undefined);
  }
}
