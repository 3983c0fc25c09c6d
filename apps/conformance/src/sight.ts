import { setTimeout as sleep } from "node:timers/promises";
import type { Tool } from "./connect/tool.js";
import { Operands } from "./keys/operands.js";
import type { MonitorRecord, SeenCall } from "./monitor/record.js";
import type { MonitorSocket } from "./monitor/socket.js";
import { Refused } from "./outcome.js";

/** A command of the run, its keys, and what its script touched. */
export interface KeyedCall {
  readonly command: readonly string[];
  /** Key operands; for a script the declared `KEYS`. */
  readonly keys: readonly string[];
  readonly inside: readonly {
    readonly command: readonly string[];
    readonly keys: readonly string[];
  }[];
}

/** What is needed to watch the server. */
export interface SightParts {
  readonly record: MonitorRecord;
  readonly socket: MonitorSocket | Refused;
  readonly tool: Tool;
  readonly endToken: string;
}

const END_MS = 5_000;

/** What the server saw of this run, through `MONITOR`. */
export class Sight {
  readonly #parts: SightParts;
  #keyed: Promise<readonly KeyedCall[]> | undefined;

  constructor(parts: SightParts) {
    this.#parts = parts;
  }

  /**
   * Ends the watch with the first call, and answers everything the run did until then.
   * @throws Refused where `MONITOR` or `COMMAND GETKEYS` is not allowed.
   */
  calls(): Promise<readonly KeyedCall[]> {
    this.#keyed ??= this.#read();
    return this.#keyed;
  }

  close(): void {
    if (!(this.#parts.socket instanceof Refused)) this.#parts.socket.close();
  }

  async #read(): Promise<readonly KeyedCall[]> {
    const { socket, record, tool, endToken } = this.#parts;
    if (socket instanceof Refused) throw socket;
    const ended = record.end();
    await tool.ask("ECHO", endToken);
    // A stream that ends or stalls says nothing about what it did not show.
    const late = sleep(END_MS, "late" as const, { ref: false });
    const seen = await Promise.race([ended, late]);
    const whole = seen !== "late" && socket.open;
    this.close();
    if (!whole) throw new Refused("the server ended the MONITOR stream before the run was over");
    return keyed(record.calls(), new Operands(tool));
  }
}

async function keyed(calls: readonly SeenCall[], operands: Operands): Promise<KeyedCall[]> {
  const keys = await operands.of(calls.flatMap(({ command, inside }) => [command, ...inside]));
  let at = 0;
  const next = (): readonly string[] => keys[at++] ?? [];
  return calls.map(({ command, inside }) => ({
    command,
    keys: next(),
    inside: inside.map((one) => ({ command: one, keys: next() })),
  }));
}
