import { type FenceProbes, isEchoMQError, parseTombstone, phaseUnderWay } from "@echomq/wire";
import { commandFor, type Place } from "./command-line.js";
import type { Context } from "./context.js";
import { MigrationError } from "./errors.js";

/** What a look at the keys found, before it is judged whose run it is. */
interface Seen {
  readonly state: string;
  readonly run: string | null;
  readonly source: string | null;
  readonly v1Meta: FenceProbes["stamp"];
  readonly vaulted: readonly string[];
  readonly journal: Readonly<Record<string, string>> | null;
}

/**
 * The v1 queue that the run was started for, when it is another than this context's; else null. What
 * `v2:meta source` says decides; the journal is asked only where no v2 key says anything.
 */
export function otherSource(ctx: Context, at: Seen): Place | null {
  if (at.source !== null) return at.source === ctx.v1.base ? null : placeOf(at.source, ctx.q, at);
  const place = journalPlace(at);
  if (place === null || baseOf(place) === ctx.v1.base) return null;
  if (at.state === "moving") return ownsRun(ctx, at) ? null : place;
  // Nothing of a run stands: a journal under way is what a crash, or a hand, left of another queue's.
  return at.state !== "v2" && phaseUnderWay(at.journal?.phase ?? "plan") ? place : null;
}

/**
 * Tells whether this context's v1 queue is the one the run has closed, by what stands at v1's own keys.
 * Asked only where `v2:meta` no longer says it.
 */
export function ownsRun(ctx: Context, at: Seen): boolean {
  if (at.v1Meta.kind === "string" && !ctx.v1.inPlace) {
    return parseTombstone(at.v1Meta.text)?.run === at.run;
  }
  if (at.vaulted.length === 0) return false;
  return ctx.v1.inPlace || at.v1Meta.kind === "none";
}

/**
 * The run whose v2 keys somebody deleted while it was under way: its tombstone still closes v1, and the
 * vault still holds what v1 had. Null for every other state.
 */
export function strandedRun(ctx: Context, at: Seen & { stamp: Seen["v1Meta"] }): string | null {
  if (ctx.v1.inPlace || at.state !== "foreign" || at.stamp.kind !== "none") return null;
  if (at.v1Meta.kind !== "string" || at.vaulted.length === 0) return null;
  const text = parseTombstone(at.v1Meta.text);
  return text?.state === "moving" && text.q === ctx.q ? text.run : null;
}

/** The refusal of a phase that was called for another v1 queue than the run's. */
export function sourceRefusal(ctx: Context, phase: string, place: Place): MigrationError {
  const { queue, prefix } = place;
  const next = commandFor({ ...ctx, ...place }, command(phase));
  return new MigrationError({
    reason: "OTHER_SOURCE",
    queue: ctx.queue,
    phase,
    message:
      `The v2 queue ${show(ctx.q)} belongs to a move of the v1 queue ${show(queue)} at prefix ${show(prefix)}, ` +
      `not of ${show(ctx.queue)} at prefix ${show(ctx.prefix)}; nothing was written.`,
    details: { source: place, asked: { queue: ctx.queue, prefix: ctx.prefix } },
    next,
  });
}

/** Tells a script's refusal of another source from its other refusals. */
export function isSourceRefusal(error: unknown): boolean {
  return isEchoMQError(error, "EMQSTATE") && /^EMQSTATE source /.test(error.message);
}

/** What a script said when it refused a state, or null for every other error. */
export function stateRefused(error: unknown): string | null {
  if (!isEchoMQError(error, "EMQSTATE") || isSourceRefusal(error)) return null;
  return error.message.replace(/^EMQSTATE /, "");
}

/** The source a script named in its refusal. */
export function sourceOf(error: unknown): string | null {
  const named = /^EMQSTATE source (.*)$/s.exec((error as Error).message)?.[1];
  return named === undefined || named === "none" ? null : named;
}

/** Queue and prefix of a base; the journal's spelling where it gives the same base. */
export function placeOf(base: string, q: string, at: Pick<Seen, "journal">): Place {
  const noted = journalPlace(at);
  if (noted !== null && baseOf(noted) === base) return noted;
  const text = base.slice(0, -1);
  for (const queue of [`{${q}}`, q]) {
    if (text.endsWith(`:${queue}`)) return { queue, prefix: text.slice(0, -queue.length - 1) };
  }
  // Renamed by --as, and its journal is gone: most prefixes hold no colon.
  const colon = text.indexOf(":");
  return { prefix: text.slice(0, colon), queue: text.slice(colon + 1) };
}

function journalPlace({ journal }: Pick<Seen, "journal">): Place | null {
  const { queue, prefix } = journal ?? {};
  return queue === undefined || prefix === undefined ? null : { queue, prefix };
}

function baseOf({ queue, prefix }: Place): string {
  return `${prefix}:${queue}:`;
}

function command(phase: string): string {
  if (phase === "purge") return "commit --purge-v1";
  return phase === "remove" ? "remove --yes" : phase;
}

function show(text: string): string {
  return JSON.stringify(text);
}
