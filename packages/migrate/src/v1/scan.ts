import type { Context } from "../context.js";
import { classifyV1, type V1KeyKind } from "./keys.js";

const PAGE = 1_000;

/** Escapes a text so that a glob pattern means exactly it. */
export function globEscape(text: string): string {
  return text.replaceAll(/[*?[\]\\^-]/g, "\\$&");
}

/** Pages of the keys that begin with `base`: bounded SCAN, a key may come twice. */
export async function* scanKeys(ctx: Context, base: string): AsyncGenerator<readonly string[]> {
  let cursor = "0";
  do {
    ctx.check();
    const reply = await ctx.dispatcher.command(
      ["SCAN", cursor, "MATCH", `${globEscape(base)}*`, "COUNT", String(PAGE)],
      {},
      { op: "migrate scan", repeatable: true },
    );
    const [next, keys] = reply as readonly [string, readonly string[]];
    cursor = String(next);
    if (keys.length > 0) yield keys;
  } while (cursor !== "0");
}

/** A key of a v1 queue and what it is. */
export type V1Key = (V1KeyKind | { readonly kind: "other" }) & { readonly key: string };

/**
 * Pages of the keys of the v1 queue, each told apart by its name. `other` is what belongs to another v1
 * queue whose name begins like this one's.
 */
export async function* scanV1(ctx: Context): AsyncGenerator<readonly V1Key[]> {
  ctx.others ??= nestedBases(ctx);
  const others = await ctx.others;
  for await (const page of scanNamed(ctx)) {
    yield page.map((each) =>
      others.some((other) => each.key.startsWith(other)) ? { kind: "other", key: each.key } : each,
    );
  }
}

async function* scanNamed(ctx: Context): AsyncGenerator<readonly V1Key[]> {
  const { base, inPlace } = ctx.v1;
  for await (const keys of scanKeys(ctx, base)) {
    yield keys.map((key) => ({ ...classifyV1(key.slice(base.length), inPlace), key }));
  }
}

/** Types in which v1 keeps the units that give a queue away; a job is always a hash with a name. */
const GIVEN_AWAY: Readonly<Record<string, string>> = {
  meta: "hash",
  id: "string",
  wait: "list",
  active: "list",
  delayed: "zset",
  completed: "zset",
  failed: "zset",
  events: "stream",
};

/**
 * What the keys of other v1 queues begin with whose own names begin like this queue's: a queue `b` at
 * prefix `bull:a` beside a queue `a` at prefix `bull`. Their keys read like jobs of this queue.
 */
async function nestedBases(ctx: Context): Promise<readonly string[]> {
  const found = new Set<string>();
  for await (const page of scanNamed(ctx)) {
    const likely = page.flatMap(({ kind, key }) => {
      const colon = key.lastIndexOf(":");
      const type = GIVEN_AWAY[key.slice(colon + 1)];
      const outside = kind !== "v2" && kind !== "vault" && colon >= ctx.v1.base.length;
      return outside && type !== undefined ? [{ key, type, base: key.slice(0, colon + 1) }] : [];
    });
    if (likely.length === 0) continue;
    const route = { key: ctx.v1.base };
    const types = await ctx.dispatcher.readMany(
      likely.map(({ key }) => ["TYPE", key]),
      route,
    );
    const typed = likely.filter(({ type }, at) => types[at] === type);
    for (const { key, type, base } of typed) {
      const name =
        type === "hash"
          ? await ctx.dispatcher.command(["HGET", key, "name"], { key }, { repeatable: true })
          : null;
      if (name === null) found.add(base);
    }
  }
  // The vault of such a queue that has moved.
  return [...found].map((base) => base.replace(/emq-vault:$/, ""));
}
