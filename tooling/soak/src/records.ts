import { closeSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

/** How a job is added, as its producer chose it and its handler finds it in the data. */
export interface Plan {
  /** Names the job for ever, whatever its id. */
  readonly k: string;
  /** Attempts that fail before one succeeds. */
  readonly fails: number;
  readonly attempts: number;
  /** What its first run does instead of ending: see the worker. */
  readonly first: "run" | "later" | "wait" | "rate" | "log" | "fatal";
  readonly workMs: number;
  readonly priority: number;
  readonly lifo: boolean;
  readonly delay: number;
  /** Stays when it has ended. */
  readonly kept: boolean;
  /** Deduplication id, where it has one. */
  readonly dedup?: string;
  /** Fails unrun when it waits longer. */
  readonly ttl?: number;
  /** A run that takes longer fails its attempt. */
  readonly timeout?: number;
  /** Leaves a letter when it fails for good. */
  readonly letter: boolean;
}

/** What children write down, each in a file of its own. Times are of the machine's one true clock. */
export type Record_ =
  | { readonly e: "add"; readonly at: number; readonly q: string; readonly plan: Plan }
  | {
      readonly e: "added";
      readonly at: number;
      readonly k: string;
      readonly id: string;
    }
  | { readonly e: "refused"; readonly at: number; readonly k: string; readonly code: string }
  | {
      readonly e: "op";
      readonly at: number;
      readonly op: string;
      readonly id: string;
      readonly q: string;
    }
  | {
      readonly e: "start";
      readonly at: number;
      readonly id: string;
      readonly k: string;
      readonly token: string;
      /** Server ms of the claim, as the worker knows it. */
      readonly claimed: number;
    }
  | {
      readonly e: "end";
      readonly at: number;
      readonly id: string;
      readonly token: string;
      readonly how: How;
    }
  | { readonly e: "lost"; readonly at: number; readonly id: string; readonly why: string }
  | { readonly e: "gap"; readonly at: number; readonly ms: number }
  | { readonly e: "trouble"; readonly at: number; readonly code: string; readonly text: string };

/** How a handler ended. */
export type How = "done" | "failed" | "later" | "wait" | "rate" | "fatal" | "stopped";

/** A process and what it wrote down. */
export interface Written {
  readonly name: string;
  readonly records: readonly Record_[];
}

/** Appends records to a file: what is written survives the process. */
export class Recorder {
  readonly #file: number;

  constructor(file: string) {
    this.#file = openSync(file, "a");
  }

  write(record: Record_): void {
    writeSync(this.#file, `${JSON.stringify(record)}\n`);
  }

  close(): void {
    closeSync(this.#file);
  }
}

const SUFFIX = ".ndjson";

/** Where a process of this name writes. */
export function fileOf(folder: string, name: string): string {
  return join(folder, `${name}${SUFFIX}`);
}

/** Reads what all processes wrote; a last line that was cut by a kill is no record. */
export function readRecords(folder: string): Written[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(SUFFIX));
  return files.map((file) => ({
    name: file.slice(0, -SUFFIX.length),
    records: readFileSync(join(folder, file), "utf8")
      .split("\n")
      .filter((line) => line.endsWith("}"))
      .map((line) => JSON.parse(line) as Record_),
  }));
}
