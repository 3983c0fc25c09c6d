import type { Kind, Unit, WireCode } from "@echomq/wire";

/**
 * The shape of a script as data. Encoders, decoders, types, the Lua prologue, the manifest, the wire
 * page and the lint all derive from it, so a script and its callers cannot disagree.
 */
export interface ScriptSpec {
  /** File name under `lua/` and name in the manifest. */
  readonly name: string;
  /** What it does, in one sentence. */
  readonly summary: string;
  /** Which fence it begins with: see {@link FenceForm}. */
  readonly fence: FenceForm;
  /** Fixed keys in `KEYS` order. */
  readonly keys: readonly KeyName[];
  /** Key groups of variable length, after the fixed keys, in order. */
  readonly groups: readonly GroupSpec[];
  /** Single arguments; `layout.ts` says how they, counts and rows stand in `ARGV`. */
  readonly args: readonly ArgSpec[];
  /** Repeated rows of arguments, after the single ones, in order. */
  readonly tables: readonly TableSpec[];
  readonly reply: ReplySpec;
  /** Classes it may refuse with, besides the fence and `EMQARG`. */
  readonly refusals: readonly WireCode[];
  readonly writes: boolean;
  /** The most members any one group or table may have. */
  readonly bound: number;
  /** Whether the same call may be sent again when its outcome is unknown. */
  readonly repeatable: boolean;
}

/**
 * - `step`: the stamp must begin with `echomq:2.`.
 * - `init`: as `step`, but a keyspace with nothing in it is allowed too.
 * - `reserve`: `{emq}:version` must be absent or begin with `echomq:2.`.
 * - `migration`: the stamp must be the one the call names (its own run), or the script's own check.
 */
export type FenceForm = "step" | "init" | "reserve" | "migration";

/** A fixed key: the stamp, a unit of the queue, or a key of the reserve. */
export type KeyName = "stamp" | Unit | `reserve:${string}`;

/** A group of keys: one or more kinds per id, or whole keys given by the caller (`raw`). */
export interface GroupSpec {
  readonly name: string;
  readonly kinds: readonly Kind[] | "raw";
}

/** `int` is a whole number from 0 to `most` (default 2^53-1), `text` any string. */
export interface ArgSpec {
  readonly name: string;
  readonly type: "int" | "text";
  readonly most?: number;
  readonly doc: string;
}

export interface TableSpec {
  readonly name: string;
  readonly columns: readonly ArgSpec[];
}

export type ReplySpec =
  | { readonly type: "text" }
  | { readonly type: "int" }
  | { readonly type: "maybe"; readonly of: ReplySpec }
  | { readonly type: "list"; readonly of: ReplySpec }
  /**
   * Jobs and what a run needs of their hashes, in a flat list, since each string and table of a reply costs
   * both sides. A job with no other fields than these is one text, `<id>\n<opts>\n<name>\n<timestamp>\n<data>`
   * (of them only data may hold a newline); every other is its id, the number of its fields and the fields.
   */
  | { readonly type: "jobs" }
  | { readonly type: "record"; readonly fields: readonly (readonly [string, ReplySpec])[] };

/** One job of a `jobs` reply. */
export interface ToldJob {
  readonly id: string;
  /** By place as in `RUN_FIELDS`; those at the end that it does not have are left out, empty for none. */
  readonly fields: readonly (string | null)[];
}

type Named = { readonly name: string };
type ValueOf<A extends ArgSpec> = A["type"] extends "int" ? number : string;
type ValuesOf<T extends readonly ArgSpec[]> = {
  readonly [A in T[number] as A["name"]]: ValueOf<A>;
};
type NamesOf<T extends readonly Named[]> = T[number]["name"];

/** What a caller gives for one call of `S`. Groups take ids, or whole keys where the group is `raw`. */
export type CallOf<S extends ScriptSpec> = {
  /** The bare queue name; unused by reserve scripts. */
  readonly q: string;
  readonly args: ValuesOf<S["args"]>;
} & { readonly [G in NamesOf<S["groups"]>]: readonly string[] } & {
  readonly [T in S["tables"][number] as T["name"]]: readonly ValuesOf<T["columns"]>[];
};

/** The decoded reply of `S`; `unknown` for a script that is not known as data. */
export type ReplyOf<S extends ScriptSpec> = ScriptSpec extends S ? unknown : Decoded<S["reply"]>;

export type Decoded<R extends ReplySpec> = R extends { type: "text" }
  ? string
  : R extends { type: "int" }
    ? number
    : R extends { type: "maybe"; of: infer O extends ReplySpec }
      ? Decoded<O> | null
      : R extends { type: "list"; of: infer O extends ReplySpec }
        ? readonly Decoded<O>[]
        : R extends { type: "jobs" }
          ? readonly ToldJob[]
          : R extends {
                type: "record";
                fields: infer F extends readonly (readonly [string, ReplySpec])[];
              }
            ? { readonly [P in F[number] as P[0]]: Decoded<P[1]> }
            : never;

/** A script ready to be dispatched: its data, its bundled source and the SHA-1 of that source. */
export interface Script<S extends ScriptSpec = ScriptSpec> {
  readonly spec: S;
  readonly source: string;
  readonly sha: string;
}
