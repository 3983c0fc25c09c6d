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
export type V1Key = V1KeyKind & { readonly key: string };

/** Pages of the keys of the v1 queue, each told apart by its name. */
export async function* scanV1(ctx: Context): AsyncGenerator<readonly V1Key[]> {
  const { base, inPlace } = ctx.v1;
  for await (const keys of scanKeys(ctx, base)) {
    yield keys.map((key) => ({ ...classifyV1(key.slice(base.length), inPlace), key }));
  }
}
