import { ValidationError } from "./errors.js";
import { queueFault, queueName } from "./names.js";
import { isRun, runId } from "./runs.js";

/** What stands at `<prefix>:<queue>:meta` of a v1 queue that moved, or is moving. */
export interface Tombstone {
  /** Id of the migration run. */
  readonly run: string;
  /** `done` once the migration was committed. */
  readonly state: "moving" | "done";
  /** Bare name of the queue on the v2 wire. */
  readonly q: string;
}

const MARK = "echomq:moved:";

/**
 * Text of a tombstone: `echomq:moved:<run>:<state>:<q>` and a tail for people. A name that holds a
 * space is written between braces, else nobody could tell it from the tail.
 * @throws ValidationError `VALIDATION` naming `run`, `state` or `queue`.
 */
export function tombstone(t: Tombstone): string {
  return `${tombstoneHead(t)} (${TAILS[t.state]} on the EchoMQ 2 wire, keys emq:{${queueName(t.q)}}:*)`;
}

/** The part of a tombstone that programs read, without the tail. */
export function tombstoneHead(t: Tombstone): string {
  if (!Object.hasOwn(TAILS, t.state)) {
    throw new ValidationError({ option: "state", reason: "must be moving or done" });
  }
  const q = queueName(t.q);
  return `${MARK}${runId(t.run)}:${t.state}:${q.includes(" ") ? `{${q}}` : q}`;
}

/** Reads a tombstone, whatever its tail; null for any other text. */
export function parseTombstone(text: string): Tombstone | null {
  if (!text.startsWith(MARK)) return null;
  const [, run, state, rest] = HEAD.exec(text) ?? [];
  if (run === undefined || rest === undefined || !isRun(run)) return null;
  if (state !== "moving" && state !== "done") return null;
  const q = rest.startsWith("{") ? rest.slice(1, -1) : rest;
  return queueFault(q) === null ? { run, state, q } : null;
}

const TAILS = { moving: "this queue is moving, it will live", done: "this queue moved, it lives" };

/** `:` ends every part but the last, which ends at its brace, at a space or with the text. */
const HEAD = /^echomq:moved:([^:]{1,64}):([a-z]{1,8}):(\{[^{}]{1,128}\}|[^ {}]{1,128})(?: |$)/u;
