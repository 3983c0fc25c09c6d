import { ValidationError } from "./errors.js";
import { isPhase, isRun, runId } from "./runs.js";
import type { Tombstone } from "./tombstone.js";
import { parseTombstone } from "./tombstone.js";

/** Major version of the wire this code speaks. */
export const WIRE_MAJOR = 2;
/** The stamp this code writes. */
export const WIRE_VERSION = "echomq:2.0.0";
/** Every stamp this code works with begins so; a newer minor is fine. */
export const STAMP_PREFIX = "echomq:2.";

/** A version text, taken apart. */
export type Version =
  | {
      readonly family: "echomq";
      readonly major: number;
      readonly minor: number;
      readonly patch: number;
    }
  | {
      readonly family: "migrating";
      readonly run: string;
      /** Empty when the stamp names none. */
      readonly phase: string;
    }
  | { readonly family: "bullmq"; readonly version: string }
  | ({ readonly family: "tombstone" } & Tombstone)
  | { readonly family: "foreign"; readonly text: string };

const NUMBER = "(0|[1-9][0-9]{0,8})";
const ECHOMQ = new RegExp(`^echomq:${NUMBER}\\.${NUMBER}\\.${NUMBER}$`);
const MIGRATING = /^echomq:migrating:([^:]{1,64})(?::([^:]{1,32}))?$/;
const BULLMQ = /^bullmq:([0-9A-Za-z.+-]{1,64})$/;

/** Takes a version text apart. Total: what no release writes is `foreign`, nothing throws. */
export function parseVersion(text: string): Version {
  const numbers = ECHOMQ.exec(text);
  if (numbers !== null) {
    const [major = 0, minor = 0, patch = 0] = numbers.slice(1).map(Number);
    return { family: "echomq", major, minor, patch };
  }
  const [, run = "", phase] = MIGRATING.exec(text) ?? [];
  if (isRun(run) && (phase === undefined || isPhase(phase))) {
    return { family: "migrating", run, phase: phase ?? "" };
  }
  const version = BULLMQ.exec(text)?.[1];
  if (version !== undefined) return { family: "bullmq", version };
  const moved = parseTombstone(text);
  return moved === null ? { family: "foreign", text } : { family: "tombstone", ...moved };
}

/**
 * The stamp of a queue that is being migrated, `echomq:migrating:<run>:<phase>`.
 * @throws ValidationError `VALIDATION` naming `run` or `phase`.
 */
export function migratingStamp(run: string, phase: string): string {
  if (isPhase(phase)) return `echomq:migrating:${runId(run)}:${phase}`;
  throw new ValidationError({
    option: "phase",
    reason: "must be 1 to 32 lower-case letters or hyphens",
  });
}
