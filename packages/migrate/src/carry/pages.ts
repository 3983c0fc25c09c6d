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
