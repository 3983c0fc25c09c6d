import type { Command, Reply } from "@echomq/scripts";
import { parseKey, stampKey, type Unit, unitKey } from "@echomq/wire";
import type { Session } from "../connection/session.js";

/** Members of one page. */
const PAGE = 100;
/** Keys the server looks at for one page of a scan. */
const SCAN_PAGE = 500;

const OP = "Queue.doctor";

async function ask(session: Session, command: Command): Promise<Reply> {
  // Every key of the queue lives on the node of its stamp.
  const route = { key: stampKey(session.q), readOnly: false };
  return session.main.command(command, route, { op: OP, repeatable: true });
}

/** Members of a sorted set, a hash or a set, page by page; each at least once while it stands there. */
export async function* members(session: Session, unit: Unit): AsyncGenerator<string[]> {
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
    const ids = found.filter((_, at) => at % step === 0);
    // A small structure comes whole, whatever was asked.
    for (let at = 0; at < ids.length; at += PAGE) yield ids.slice(at, at + PAGE);
  } while (cursor !== "0");
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

/** Every key under the queue's prefix, page by page. The server walks its whole keyspace for it. */
export async function* keys(session: Session): AsyncGenerator<string[]> {
  const prefix = `emq:{${session.q}}:v2:`;
  const pattern = `${prefix.replaceAll(/[*?[\]\\^]/g, "\\$&")}*`;
  let cursor = "0";
  do {
    const scan = ["SCAN", cursor, "MATCH", pattern, "COUNT", String(SCAN_PAGE)];
    const [next, found] = (await ask(session, scan)) as readonly [string, readonly string[]];
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
