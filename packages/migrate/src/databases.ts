import type { Dispatcher } from "@echomq/scripts";
import { isEchoMQError } from "@echomq/wire";
import { counted } from "./words.js";

/**
 * Says of an empty database which others of the server hold keys, for whoever named the wrong one; null when
 * this one holds some, when none does, or when the user may not look.
 */
export async function otherDatabases(dispatcher: Dispatcher): Promise<string | null> {
  try {
    const [size, info] = await dispatcher.readMany([["DBSIZE"], ["INFO", "keyspace"]], {});
    if (Number(size) > 0) return null;
    const held = [...String(info).matchAll(/^db(\d+):keys=(\d+)/gm)].map(
      ([, db, keys]) => `${db} (${counted(Number(keys), "key")})`,
    );
    if (held.length === 0) return "This server holds no key at all.";
    return `This database is empty; databases of the server that are not: ${held.join(", ")}.`;
  } catch (error) {
    // It only helps whoever mistyped; who may not look does without.
    if (isEchoMQError(error) && !error.transient) return null;
    throw error;
  }
}
