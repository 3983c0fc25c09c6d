import { createHash } from "node:crypto";
import { addScript } from "@echomq/scripts";
import { errorFromReply, LIMITS, utf8Length } from "@echomq/wire";
import type { Neighbour } from "../connection/neighbour.js";
import { fromJson } from "./payload.js";

/** Where a dead letter came from; it stands in the options of the job that is the letter. */
export interface LetterSource {
  readonly queue: string;
  readonly id: string;
  readonly failedReason: string;
  readonly attemptsMade: number;
  /** The job's own options as JSON, empty for none. */
  readonly opts: string;
  readonly priority: number;
}

/** A job that failed for good, on its way to another queue. */
export interface Letter {
  readonly to: string;
  readonly name: string;
  /** As it was stored. */
  readonly data: string;
  /** When the job was added, in server ms. */
  readonly timestamp: number;
  readonly source: LetterSource;
}

/** One job as `add` takes it. */
export interface Addition {
  readonly id: string;
  readonly name: string;
  readonly data: string;
  readonly opts: string;
  readonly timestamp: number;
  readonly priority: number;
}

/** Reads a letter that any version may have written; null for what is none. */
export function letterOf(text: string): Letter | null {
  const value = fromJson(text) as Partial<Letter> | null | undefined;
  const source = sourceOf(value);
  const { to, name, data, timestamp } = value ?? {};
  const whole = typeof to === "string" && typeof name === "string" && typeof data === "string";
  if (!source || !whole || !Number.isSafeInteger(timestamp)) return null;
  return { to, name, data, timestamp: timestamp as number, source };
}

/** The source named in a job's options; null where there is none. */
export function sourceOf(opts: unknown): LetterSource | null {
  const source = (opts as { source?: unknown } | null | undefined)?.source;
  const { queue, id, opts: own, priority } = (source ?? {}) as Partial<LetterSource>;
  if (typeof queue !== "string" || typeof id !== "string" || typeof own !== "string") return null;
  return Number.isSafeInteger(priority) ? (source as LetterSource) : null;
}

/** The letter as a job of the dead-letter queue. Its id says whose it is, so that two are one. */
export function additionOf({ name, data, timestamp, source }: Letter): Addition {
  const own = `${source.queue}:${source.id}`;
  const short = createHash("sha256").update(source.id).digest("hex");
  const id = utf8Length(own) > LIMITS.idBytes ? `${source.queue}:${short}` : own;
  return { id, name, data, timestamp, priority: 0, opts: JSON.stringify({ source }) };
}

/**
 * Adds jobs to another queue, each once: one that stands there already is left as it is.
 * @throws WireError `EMQFULL` or `EMQSTATE`; FenceError or ServerError.
 */
export async function addTo(
  target: Neighbour,
  jobs: readonly Addition[],
  op: string,
): Promise<void> {
  const ids = jobs.map(({ id }) => id);
  const items = jobs.map(({ id: _, ...job }) => ({ ...job, delay: 0, flags: 2 }));
  const args = { now: await target.clock.now(), whole: 1 };
  const none = { dedups: [], holders: [], locks: [] };
  const call = { q: target.q, jobs: ids, namesakes: ids, args, items, ...none };
  const statuses = await target.write(addScript, call, op);
  const full = statuses.find((status) => status.startsWith("EMQ"));
  if (full !== undefined) throw errorFromReply(full, { op, queue: target.q });
}
