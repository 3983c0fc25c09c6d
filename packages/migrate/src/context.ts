import type { Dispatcher } from "@echomq/scripts";
import type { QueueKeys } from "@echomq/wire";
import { type CommandLine, commandFor } from "./command-line.js";
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
  /** The phase that is walked now. */
  phase: Phase;
  /** The command that goes on where this one is stopped. */
  command: string;
  /** Other v1 queues whose keys read like jobs of this one; looked up once in a phase. */
  others: Promise<readonly string[]> | undefined;
  readonly signal: AbortSignal | undefined;
  /** What the commands in reports and refusals carry beside queue and prefix. */
  readonly commandLine: CommandLine;
  progress(progress: Progress): void;
  /** @throws MigrationError `ABORTED` once the signal has fired. */
  check(): void;
}

const CLOSED = "The queue stays closed for v1 and v2 clients until the same command has ended";

/** What a phase leaves that was stopped, where it had begun to write. */
const LEFT: { readonly [P in Phase]?: string } = {
  copy: `${CLOSED}, or \`rollback\`.`,
  verify: `${CLOSED}, or \`rollback\`.`,
  commit: `${CLOSED}, or \`rollback\`.`,
  purge: "The queue is on v2; some v1 keys are not removed yet, and there is no way back.",
  rollback: `${CLOSED}.`,
  remove: `${CLOSED}.`,
};

/** The error of a signal that fired; the same command goes on. */
export function aborted(
  ctx: Pick<Context, "queue" | "prefix" | "q" | "commandLine" | "phase" | "command">,
  next: string = commandFor(ctx, ctx.command),
): MigrationError {
  const { queue, phase } = ctx;
  const left = LEFT[phase] ?? "Nothing was changed.";
  const message = `Stopped in ${phase}. ${left} The same command goes on from here.`;
  return new MigrationError({ reason: "ABORTED", queue, phase, message, next });
}
