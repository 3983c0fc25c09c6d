import { parse } from "./ast.js";
import { COMMANDS, type Command } from "./commands.js";
import { analyse } from "./flow/analyse.js";
import { resolveScopes } from "./scope.js";
import { stepOf } from "./trace.js";

/** What a script asks of a key; neither of both where it only looks at its size or presence. */
export interface KeyAccess {
  readonly read: boolean;
  readonly write: boolean;
}

/** What a script does on the server. */
export interface Access {
  /** Names of its commands, in order. */
  readonly commands: readonly string[];
  /** By position in `KEYS`, `*` where the position is computed. */
  readonly keys: ReadonlyMap<string, KeyAccess>;
}

/** Commands that say no more of a key than its size, its type or whether something is in it. */
const LOOKS: ReadonlySet<string> = new Set([
  ...["EXISTS", "HEXISTS", "HLEN", "HSTRLEN", "LLEN", "SCARD", "SISMEMBER", "STRLEN", "TOUCH"],
  ...["TYPE", "XLEN", "ZCARD"],
]);

/** Commands that answer with what they change. */
const ANSWERS: ReadonlySet<string> = new Set([
  ...["DECR", "DECRBY", "GETDEL", "GETEX", "GETSET", "HINCRBY", "HINCRBYFLOAT", "INCR", "INCRBY"],
  ...["INCRBYFLOAT", "LPOP", "RPOP", "ZINCRBY", "ZPOPMAX", "ZPOPMIN"],
]);

/** Commands that bring something from their first key to their second. */
const MOVES: ReadonlySet<string> = new Set(["LMOVE", "RENAME", "RENAMENX", "RPOPLPUSH", "SMOVE"]);

/** Commands that write their first key from what the others hold. */
const STORES: ReadonlySet<string> = new Set([
  ...["SDIFFSTORE", "SINTERSTORE", "SUNIONSTORE", "ZRANGESTORE"],
]);

/**
 * What the server's access control asks of a key, by the key's place among a command's keys. It looks
 * at what may become known of a key's content, so a size is no reading.
 */
export function keyAccess(name: string, { access }: Command, place: number): KeyAccess {
  if (LOOKS.has(name)) return { read: false, write: false };
  if (access === "read") return { read: true, write: false };
  if (name === "COPY") return { read: place === 0, write: place > 0 };
  if (MOVES.has(name)) return { read: place === 0, write: true };
  if (STORES.has(name)) return { read: place > 0, write: place === 0 };
  return { read: ANSWERS.has(name), write: true };
}

/**
 * The commands a bundled script calls and what it does to its keys, found by following its values.
 * @throws Error for a script that is no Lua, or calls what is not in the inventory.
 */
export function accessOf(source: string): Access {
  const parsed = parse(source, "5.1");
  if ("error" in parsed) throw new Error(parsed.error.message);
  const state = analyse(parsed.chunk, resolveScopes(parsed.chunk), () => undefined);
  const commands = new Set<string>();
  const keys = new Map<string, KeyAccess>();
  for (const found of state.redisCalls.values()) {
    if (!state.live.has(found.node)) continue;
    const { name, command, keys: operands, line } = stepOf(found);
    if (!Object.hasOwn(COMMANDS, name) || command === undefined) {
      throw new Error(`line ${line}: ${name || "a computed command"} is not in the inventory`);
    }
    commands.add(name);
    operands.forEach((operand, place) => {
      const { read, write } = keyAccess(name, command, place);
      for (const position of operand.keys) {
        const before = keys.get(position);
        keys.set(position, {
          read: read || before?.read === true,
          write: write || before?.write === true,
        });
      }
    });
  }
  return { commands: [...commands].sort(), keys };
}
