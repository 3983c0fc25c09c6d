import { type FenceProbes, reserveKey, ServerError, stampKey, unitKey } from "@echomq/wire";
import { type Command, isDriverFault, type Reply, type Settled } from "../driver/types.js";

/** Prefixes at which a v1 queue of the same name is looked for, unless the caller names others. */
export const V1_PREFIXES: readonly string[] = ["bull", "{bull}", "emq"];

/** Units whose presence shows a v1 queue that has no `meta`. */
const BARE_UNITS = ["id", "wait", "delayed", "completed", "stalled-check"] as const;

/** The reads of one boot fence, and how to understand their replies. */
export interface FenceRead {
  readonly commands: readonly Command[];
  /**
   * @throws ServerError `NOPERM` naming the key whose right is missing, or another reply that is no
   * answer to the question.
   */
  understand(replies: readonly Settled<Reply>[]): FenceProbes;
}

/**
 * The boot fence's reads for a queue: one pipelined round trip, never a scan. Reading a key as string
 * and as hash at once tells its type without a second trip.
 */
export function fenceRead(q: string, prefixes: readonly string[] = V1_PREFIXES): FenceRead {
  const commands: Command[] = [];
  const ask = (...command: readonly string[]): number => commands.push(command) - 1;
  const version = ask("GET", reserveKey("version"));
  const stamp = askMeta(ask, stampKey(q));
  const metaKey = unitKey(q, "meta");
  const meta = ask("HMGET", metaKey, "version", "opened");
  const metaThere = ask("EXISTS", metaKey);
  const journal = ask("HMGET", reserveKey("migration", q), "run", "phase");
  const places = prefixes.flatMap((prefix) =>
    [false, true].map((braced) => {
      const base = `${prefix}:${braced ? `{${q}}` : q}`;
      const bare = BARE_UNITS.map((unit) => `${base}:${unit}`);
      const at = askMeta(ask, `${base}:meta`);
      return {
        prefix,
        braced,
        at,
        bare,
        metaKey: `${base}:meta`,
        exist: bare.map((key) => ask("EXISTS", key)),
      };
    }),
  );

  return {
    commands,
    understand(replies) {
      const read = new Replies(commands, replies);
      const fields = read.list(meta);
      const [run, phase] = read.list(journal) ?? [];
      return {
        queue: q,
        // Another type is no version either, and must not pass for none.
        reserveVersion:
          read.text(version) === undefined ? "(not a string)" : (read.text(version) ?? null),
        stamp: read.meta(stamp),
        v2Meta: fields === undefined ? "other" : read.number(metaThere) === 1 ? "hash" : "none",
        opened: fields?.[1] ?? null,
        migration: run && phase ? { run, phase } : null,
        v1: places.map(({ prefix, braced, at, bare, metaKey, exist }) => ({
          prefix,
          braced,
          metaKey,
          meta: read.meta(at),
          bare: bare.filter((_, n) => read.number(exist[n] ?? 0) === 1),
        })),
      };
    },
  };
}

type Ask = (...command: readonly string[]) => number;

function askMeta(ask: Ask, key: string): { readonly get: number; readonly hget: number } {
  return { get: ask("GET", key), hget: ask("HGET", key, "version") };
}

/** Replies by the index of their question. A wrong type is an answer; any other error is thrown. */
class Replies {
  readonly #commands: readonly Command[];
  readonly #replies: readonly Settled<Reply>[];

  constructor(commands: readonly Command[], replies: readonly Settled<Reply>[]) {
    this.#commands = commands;
    this.#replies = replies;
  }

  /** Text or null; undefined where the key has another type. */
  text(at: number): string | null | undefined {
    const reply = this.#reply(at);
    return reply === undefined || reply === null ? reply : String(reply);
  }

  number(at: number): number {
    return Number(this.#reply(at));
  }

  list(at: number): readonly (string | null)[] | undefined {
    return this.#reply(at) as readonly (string | null)[] | undefined;
  }

  meta({ get, hget }: { readonly get: number; readonly hget: number }): FenceProbes["stamp"] {
    const text = this.text(get);
    if (text === null) return { kind: "none" };
    if (text !== undefined) return { kind: "string", text };
    const version = this.text(hget);
    return version === undefined
      ? { kind: "other", type: "key of another type" }
      : { kind: "hash", version };
  }

  #reply(at: number): Reply | undefined {
    const one = this.#replies[at];
    if (one?.ok) return one.value;
    const error = one?.error;
    if (!isDriverFault(error, "reply")) throw error ?? new TypeError("a reply is missing");
    if (error.message.startsWith("WRONGTYPE")) return undefined;
    const [name, key] = this.#commands[at] ?? [];
    if (!error.message.startsWith("NOPERM")) throw error;
    throw new ServerError({
      code: "NOPERM",
      detail: `the fence may not run ${name} on ${key}; grant this user that right, or the fence cannot tell whose keys these are (${error.message})`,
      op: "fence",
    });
  }
}
