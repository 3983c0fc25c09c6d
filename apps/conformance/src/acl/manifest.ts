import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export type ScriptPackageName = "scripts" | "migrate";

/** What is done to a key: `-` where only its size or presence is looked at. */
export type Mode = "r" | "w" | "rw" | "-";

/** What a generated manifest says of a script's rights. */
export interface ScriptRights {
  readonly name: string;
  /** Fixed keys in `KEYS` order. */
  readonly keys: readonly string[];
  readonly groups: readonly { readonly name: string; readonly kinds: readonly string[] | "raw" }[];
  readonly commands: readonly string[];
  /** By the name of a fixed key or a group. */
  readonly access: Readonly<Record<string, Mode>>;
}

const PACKAGES = new URL("../../../../packages/", import.meta.url);

/**
 * The scripts of a package that are named, as its generated manifest describes them.
 * @throws Error for a name the manifest does not have.
 */
export function scriptRights(
  from: ScriptPackageName,
  names: readonly string[],
): readonly ScriptRights[] {
  const file = fileURLToPath(new URL(`${from}/manifest.json`, PACKAGES));
  const { scripts } = JSON.parse(readFileSync(file, "utf8")) as { scripts: ScriptRights[] };
  return names.map((name) => {
    const found = scripts.find((script) => script.name === name);
    if (found === undefined) throw new Error(`${from}/manifest.json has no script ${name}`);
    return found;
  });
}
