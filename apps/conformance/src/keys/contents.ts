import type { Tool } from "../connect/tool.js";

const READ: Readonly<Record<string, (key: string) => readonly string[]>> = {
  string: (key) => ["GET", key],
  hash: (key) => ["HGETALL", key],
  list: (key) => ["LRANGE", key, "0", "-1"],
  set: (key) => ["SMEMBERS", key],
  zset: (key) => ["ZRANGE", key, "0", "-1", "WITHSCORES"],
  stream: (key) => ["XRANGE", key, "-", "+"],
};

/** Type and content of each key, as text that is equal exactly when nothing changed. */
export async function contentsOf(
  tool: Tool,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const types = (await tool.askEach(keys.map((key) => ["TYPE", key]))).map(String);
  const reads = keys.map((key, at) => READ[types[at] ?? ""]?.(key) ?? ["EXISTS", key]);
  const replies = await tool.askEach(reads);
  return new Map(
    keys.map((key, at) => [key, `${types[at]} ${JSON.stringify(ordered(types[at], replies[at]))}`]),
  );
}

/** The keys whose content differs. */
export function changed(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].filter((key) => before.get(key) !== after.get(key));
}

/** Hashes and sets have no order of their own. */
function ordered(type: string | undefined, reply: unknown): unknown {
  if (!Array.isArray(reply)) return reply instanceof Error ? reply.message : reply;
  if (type === "set") return [...reply].sort();
  if (type !== "hash") return reply;
  const fields = reply.flatMap((name, at) => (at % 2 === 0 ? [[name, reply[at + 1]]] : []));
  return fields.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
}
