import type { Dispatcher } from "@echomq/scripts";
import type { QueueKeys } from "@echomq/wire";
import { type CommandLine, type CommandSource, commandFor } from "./command-line.js";
import { MigrationError } from "./errors.js";
import type { V1Keys } from "./v1/keys.js";

/** Names of the phases. */
export type Phase =
  | "discover"
  | "plan"
  | "drain"
  | "fence"
  | "copy"
  | "verify"
  | "commit"
  | "purge"
  | "rollback"
  | "status"
  | "repair"
  | "remove";

/** How far a phase has come. `total` is null while it is not known. */
export interface Progress {
  readonly phase: Phase;
  /** What is worked on, e.g. `completed`. */
  readonly part: string;
  readonly done: number;
  readonly total: number | null;
}

/** What every phase works with: one queue, one run, one connection. */
export interface Context {
  readonly dispatcher: Dispatcher;
  /** The v1 queue as v1 spells it. */
  readonly queue: string;
  readonly prefix: string;
  /** Bare name on the v2 wire. */
  readonly q: string;
  readonly v1: V1Keys;
  readonly v2: QueueKeys;
  /** Jobs per call. */
  readonly batch: number;
  /** The run the caller named, or the one a phase found or made. */
  run: string | undefined;
  /** Other v1 queues whose keys read like jobs of this one; looked up once in a phase. */
  others: Promise<readonly string[]> | undefined;
  readonly signal: AbortSignal | undefined;
  /** What the commands in reports and refusals carry beside queue and prefix. */
  readonly commandLine: CommandLine;
  progress(progress: Progress): void;
  /** @throws MigrationError `ABORTED` once the signal has fired. */
  check(): void;
}

/** The error of a signal that fired. */
export function aborted(ctx: CommandSource, phase: string): MigrationError {
  return new MigrationError({
    reason: "ABORTED",
    queue: ctx.queue,
    phase,
    message: "Stopped by its caller; what was done stays, and the phase may be repeated.",
    next: commandFor(ctx, "status"),
  });
}
