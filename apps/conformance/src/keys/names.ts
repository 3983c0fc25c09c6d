import { randomBytes } from "node:crypto";
import { V1_PREFIXES } from "@echomq/scripts";
import { queueName } from "@echomq/wire";
import { Misused } from "../outcome.js";

/** The queues of a run: one for the round trips, one for each scenario that plants something. */
const LABELS = [
  "main",
  "flush",
  "reader",
  "v1",
  "v1-emq",
  "foreign",
  "major",
  "step",
  "lost",
] as const;
export type Label = (typeof LABELS)[number];

/** Longest name the labels still fit behind, in bytes. */
const LONGEST = 110;

/** Names of this run's queues, and which keys are theirs. */
export class Names {
  readonly #base: string;

  /**
   * @throws Misused when the name cannot be a queue's.
   */
  constructor(base: string | undefined) {
    this.#base = base === undefined ? `conformance-${randomBytes(6).toString("hex")}` : check(base);
  }

  /** The bare name of a queue. */
  of(label: Label): string {
    return label === "main" ? this.#base : `${this.#base}-${label}`;
  }

  get all(): readonly string[] {
    return LABELS.map((label) => this.of(label));
  }

  /** Glob that matches the keys of all queues of this run, and perhaps others: see {@link owns}. */
  get pattern(): string {
    return `emq:{${this.#base.replaceAll(/[\\*?[\]^-]/g, "\\$&")}*`;
  }

  /** Whether a key belongs to a queue of this run, on the wire or where v1 would have it. */
  owns(key: string): boolean {
    return this.all.some((q) =>
      [...V1_PREFIXES, "emq"].some(
        (prefix) => key.startsWith(`${prefix}:{${q}}:`) || key.startsWith(`${prefix}:${q}:`),
      ),
    );
  }

  /** Whether a raw line of the monitor names a queue of this run as part of a key. */
  mentionedIn(line: string): boolean {
    return line.includes(this.#base) && this.all.some((q) => line.includes(`:{${q}}:`));
  }
}

function check(base: string): string {
  let name: string;
  try {
    name = queueName(base, "--queue");
  } catch (error) {
    throw new Misused(error instanceof Error ? error.message : String(error));
  }
  if (Buffer.byteLength(name) <= LONGEST) return name;
  throw new Misused(
    `--queue: must be at most ${LONGEST} bytes, the run's queues are named after it`,
  );
}
