import type { Command, Reply } from "@echomq/scripts";
import { type Kind, parseKey, stampKey, type Unit, unitKey } from "@echomq/wire";
import type { Session } from "../connection/session.js";

/** Members of one page. */
const PAGE = 100;
/** Keys the server looks at for one page of a scan. */
const SCAN_PAGE = 500;

const OP = "Queue.doctor";

/** Whom to ask. */
type Asked = Pick<Session, "q" | "main">;

async function ask(session: Asked, command: Command, op = OP): Promise<Reply> {
  // Every key of the queue lives on the node of its stamp.
  const route = { key: stampKey(session.q), readOnly: false };
  return session.main.command(command, route, { op, repeatable: true });
}

/** A member of a sorted set or of a hash, and its score or value; empty in a set. */
export type Entry = readonly [id: string, value: string];

/** Members of a sorted set, a hash or a set, page by page; each at least once while it stands there. */
export async function* members(session: Session, unit: Unit): AsyncGenerator<Entry[]> {
  const key = unitKey(session.q, unit);
  const type = String(await ask(session, ["TYPE", key]));
  const word = { zset: "ZSCAN", hash: "HSCAN", set: "SSCAN" }[type];
  if (!word) return;
  let cursor = "0";
  do {
    const reply = await ask(session, [word, key, cursor, "COUNT", String(PAGE)]);
    const [next, found] = reply as readonly [string, readonly string[]];
    cursor = next;
    const step = word === "SSCAN" ? 1 : 2;
    // A small structure comes whole, whatever was asked.
    for (let at = 0; at < found.length; at += PAGE * step) {
      const page = found.slice(at, at + PAGE * step);
      const ids = page.filter((_, n) => n % step === 0);
      yield ids.map((id, n): Entry => [id, step === 1 ? "" : (page[n * 2 + 1] ?? "")]);
    }
  } while (cursor !== "0");
}

/** How many ids stand in `wait`. */
export async function waitingCount(session: Session): Promise<number> {
  return Number(await ask(session, ["LLEN", unitKey(session.q, "wait")]));
}

/** Ids in `wait`, page by page, from the newest. What is added meanwhile makes some come twice. */
export async function* waiting(session: Session): AsyncGenerator<string[]> {
  const key = unitKey(session.q, "wait");
  if (String(await ask(session, ["TYPE", key])) !== "list") return;
  for (let at = 0; ; at += PAGE) {
    const range = ["LRANGE", key, String(at), String(at + PAGE - 1)];
    const ids = (await ask(session, range)) as readonly string[];
    if (ids.length > 0) yield [...ids];
    if (ids.length < PAGE) return;
  }
}

/**
 * Every key of the queue, or of one kind, page by page. The server walks its whole keyspace for it.
 */
export async function* keys(session: Asked, kind?: Kind, op?: string): AsyncGenerator<string[]> {
  const prefix = `emq:{${session.q}}:v2:${kind === undefined ? "" : `${kind}:`}`;
  const pattern = `${prefix.replaceAll(/[*?[\]\\^]/g, "\\$&")}*`;
  let cursor = "0";
  do {
    const scan = ["SCAN", cursor, "MATCH", pattern, "COUNT", String(SCAN_PAGE)];
    const [next, found] = (await ask(session, scan, op)) as readonly [string, readonly string[]];
    cursor = next;
    if (found.length > 0) yield [...found];
  } while (cursor !== "0");
}

/** Types of keys, in their order. */
export async function typesOf(session: Session, list: readonly string[]): Promise<string[]> {
  const commands = list.map((key) => ["TYPE", key]);
  const route = { key: stampKey(session.q) };
  return (await session.main.readMany(commands, route, { op: OP })).map(String);
}

/** A key's place in the wire, or null for one it does not know. */
export function placeOf(key: string): ReturnType<typeof parseKey> | null {
  const parts = parseKey(key);
  return parts.type === "unclassified" ? null : parts;
}
