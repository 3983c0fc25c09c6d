import { EVENT_CODES } from "@echomq/wire";
import type { Redis } from "ioredis";

/** One event of the queue, in the order in which the server wrote them. */
export interface Happened {
  /** Server ms. */
  readonly at: number;
  readonly code: keyof typeof EVENT_CODES;
  readonly id: string;
  readonly value: string;
}

/** Entries of one read. */
const PAGE = 500;

/** Reads the queue's events as they come and takes them off the server. */
export class History {
  readonly events: Happened[] = [];
  readonly #control: Redis;
  readonly #key: string;
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> = Promise.resolve();

  constructor(control: Redis, key: string) {
    this.#control = control;
    this.#key = key;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#reading = this.#reading.then(() => this.#read());
    }, 200);
  }

  /** Reads what is left. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reading;
    await this.#read();
  }

  async #read(): Promise<void> {
    for (;;) {
      const entries = await this.#control.xrange(this.#key, "-", "+", "COUNT", PAGE);
      const last = entries.at(-1)?.[0];
      if (last === undefined) return;
      for (const [entry, pairs] of entries) this.#take(Number(entry.split("-")[0]), pairs);
      // A reply that was lost with its connection leaves them there, and none is read twice.
      const [ms, seq] = last.split("-");
      await this.#control.xtrim(this.#key, "MINID", `${ms}-${Number(seq) + 1}`);
      if (entries.length < PAGE) return;
    }
  }

  #take(at: number, pairs: readonly string[]): void {
    for (let n = 0; n + 1 < pairs.length; n += 2) {
      const name = pairs[n] ?? "";
      // Upper case where the payload was too large to be told.
      const code = name.slice(0, 1).toLowerCase() as Happened["code"];
      if (!(code in EVENT_CODES)) throw new Error(`an event of an unknown kind: ${name}`);
      this.events.push({ at, code, id: name.slice(1), value: pairs[n + 1] ?? "" });
    }
  }
}
