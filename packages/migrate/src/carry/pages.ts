import type { Context } from "../context.js";
import type { Carrier } from "./carriers.js";

/** One member of a v1 list or set, with its place. */
export interface Member {
  readonly id: string;
  /** Score as the server spells it, empty in a list. */
  readonly score: string;
  readonly rank: number;
}

/** How many members stand at a key of the carrier's type. */
export async function sizeOf(
  ctx: Context,
  carrier: Pick<Carrier, "type">,
  key: string,
): Promise<number> {
  const command = carrier.type === "list" ? "LLEN" : "ZCARD";
  return Number(await ctx.dispatcher.command([command, key], { key }, { repeatable: true }));
}

/** Members from `from`, at most `count`, in the order of the list or set. */
export async function pageOf(
  ctx: Context,
  carrier: Pick<Carrier, "type">,
  key: string,
  from: number,
  count: number,
): Promise<readonly Member[]> {
  const range = [key, String(from), String(from + count - 1)];
  const command =
    carrier.type === "list" ? ["LRANGE", ...range] : ["ZRANGE", ...range, "WITHSCORES"];
  const reply = await ctx.dispatcher.command(command, { key }, { repeatable: true });
  const list = (reply as readonly unknown[]).map(String);
  if (carrier.type === "list") return list.map((id, at) => ({ id, score: "", rank: from + at }));
  const members: Member[] = [];
  for (let at = 0; at + 1 < list.length; at += 2) {
    members.push({ id: list[at] as string, score: list[at + 1] as string, rank: from + at / 2 });
  }
  return members;
}

/**
 * Reads pages one ahead: while the caller works on one, the next is on its way. A caller that jumps
 * elsewhere than to the next page just reads anew.
 */
export class PageReader {
  readonly #read: (from: number) => Promise<readonly Member[]>;
  readonly #size: number;
  #ahead: { readonly from: number; readonly page: Promise<readonly Member[]> } | null = null;

  constructor(
    ctx: Context,
    carrier: Pick<Carrier, "type">,
    key: string,
    { size, count }: { readonly size: number; readonly count: number },
  ) {
    this.#size = size;
    this.#read = (from) => (from < size ? pageOf(ctx, carrier, key, from, count) : NONE);
  }

  /** The page that begins at `from`; empty at the end. */
  async page(from: number): Promise<readonly Member[]> {
    const page = await (this.#ahead?.from === from ? this.#ahead.page : this.#read(from));
    const next = from + page.length;
    this.#ahead = null;
    if (page.length > 0 && next < this.#size) {
      const ahead = this.#read(next);
      // Told to whoever asks for the page; nobody may.
      ahead.catch(() => undefined);
      this.#ahead = { from: next, page: ahead };
    }
    return page;
  }
}

const NONE: Promise<readonly Member[]> = Promise.resolve([]);
