import { isEchoMQError } from "@echomq/wire";
import { commandFor, commandWithoutQueue, type Place } from "./command-line.js";
import type { Context } from "./context.js";
import { otherDatabases } from "./databases.js";
import { MigrationError } from "./errors.js";
import { lineOf, TELLING_UNITS } from "./v1/units.js";

/** Prefixes at which v1 programs are found most. */
const KNOWN_PREFIXES = ["bull", "{bull}", "emq"] as const;

/** A v1 queue of the same name that stands at another prefix or in another spelling. */
export interface FoundElsewhere extends Place {
  /** `version` of its meta, null without one. */
  readonly version: string | null;
}

/** Looks for v1 queues of this name at the known prefixes and this one, plain and in braces. Read only. */
export async function findElsewhere(ctx: Context): Promise<readonly FoundElsewhere[]> {
  const name = /^\{.*\}$/s.test(ctx.queue) ? ctx.queue.slice(1, -1) : ctx.queue;
  const places = [...new Set([ctx.prefix, ...KNOWN_PREFIXES])].flatMap((prefix) =>
    [...new Set([ctx.queue, name, `{${name}}`])].map((queue) => ({ prefix, queue })),
  );
  const others = places.filter(({ prefix, queue }) => `${prefix}:${queue}:` !== ctx.v1.base);
  const found: FoundElsewhere[] = [];
  for (const place of others) {
    const version = await lookAt(ctx, place);
    if (version !== undefined) found.push({ ...place, version });
  }
  return found;
}

/** `version` of the v1 queue at a place, null without one; undefined where none is or none may look. */
async function lookAt(ctx: Context, place: Place): Promise<string | null | undefined> {
  const base = `${place.prefix}:${place.queue}:`;
  const key = `${base}meta`;
  try {
    const [type, ...there] = await ctx.dispatcher.readMany(
      [["TYPE", key], ...TELLING_UNITS.map((unit) => ["EXISTS", base + unit])],
      { key },
    );
    if (type !== "hash") {
      return type !== "string" && there.some((each) => Number(each) === 1) ? null : undefined;
    }
    const version = await ctx.dispatcher.command(
      ["HGET", key, "version"],
      { key },
      { repeatable: true },
    );
    return typeof version === "string" ? version : null;
  } catch (error) {
    // It only helps whoever mistyped; a user without the right does without.
    if (isEchoMQError(error, "NOPERM")) return undefined;
    throw error;
  }
}

/** Says what was found elsewhere, or where keys stand at all; empty when there is nothing to say. */
export async function saidElsewhere(
  ctx: Context,
  found: readonly FoundElsewhere[],
): Promise<string> {
  if (found.length === 0) {
    const databases = await otherDatabases(ctx.dispatcher);
    return databases === null ? "" : ` ${databases}`;
  }
  const each = found.map(
    ({ queue, prefix, version }) =>
      `${JSON.stringify(queue)} at prefix ${JSON.stringify(prefix)} (line ${lineOf(version) ?? "unknown"})`,
  );
  return ` Found instead: ${each.join(", ")}.`;
}

/** The command that looks at what was found, or at the whole server. */
export function nextElsewhere(ctx: Context, found: readonly FoundElsewhere[]): string {
  const [only] = found;
  return found.length === 1 && only !== undefined
    ? commandFor({ ...ctx, ...only }, "plan")
    : commandWithoutQueue(ctx.commandLine, "discover");
}

/** The refusal of a phase that was called where no v1 queue is. */
export async function nothingHere(ctx: Context, phase: string): Promise<MigrationError> {
  const found = await findElsewhere(ctx);
  const say = `There is no v1 queue ${JSON.stringify(ctx.queue)} at prefix ${JSON.stringify(ctx.prefix)}; nothing was written.`;
  return new MigrationError({
    reason: "NOTHING",
    queue: ctx.queue,
    phase,
    message: `${say}${await saidElsewhere(ctx, found)}`,
    details: { elsewhere: found },
    next: nextElsewhere(ctx, found),
  });
}
