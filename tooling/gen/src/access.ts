import { accessOf, type KeyAccess } from "@echomq/lua-lint";
import type { ScriptSpec } from "../../../packages/scripts/src/registry/spec.js";

/**
 * What the server's access control asks of a key: `r` reads its content, `w` changes it, `-` looks at
 * its size or presence only.
 */
type Mode = "r" | "w" | "rw" | "-";

/** What a script does on the server, by the names its data gives its keys. */
export interface ScriptAccess {
  readonly commands: readonly string[];
  /** Fixed keys and groups that it touches; a declared key that is missing here is not touched. */
  readonly access: Readonly<Record<string, Mode>>;
}

/**
 * Reads commands and keys out of a bundled script. What it does to one of its groups is said of all:
 * their keys follow each other in `KEYS`, at places that are computed.
 */
export function scriptAccess(
  spec: Pick<ScriptSpec, "keys" | "groups">,
  source: string,
): ScriptAccess {
  const { commands, keys } = accessOf(source);
  const access: Record<string, Mode> = {};
  spec.keys.forEach((name, at) => {
    const found = keys.get(String(at + 1));
    if (found) access[name] = modeOf(found);
  });
  const computed = keys.get("*");
  if (computed) for (const { name } of spec.groups) access[name] = modeOf(computed);
  return { commands, access };
}

function modeOf({ read, write }: KeyAccess): Mode {
  if (read) return write ? "rw" : "r";
  return write ? "w" : "-";
}
