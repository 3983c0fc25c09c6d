import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ScriptSpec } from "../../../packages/scripts/src/registry/spec.js";
import { type ScriptAccess, scriptAccess } from "./access.js";
import { prologue } from "./prologue.js";

/** A script as it is sent to the server. */
export interface Bundled extends ScriptAccess {
  readonly name: string;
  readonly source: string;
  readonly sha: string;
}

/**
 * Joins the prologue written from the data with the body and the libraries it includes.
 * @throws Error when the header does not open with the summary of the registry, or a library is missing.
 */
export function bundle(spec: ScriptSpec, folders: readonly string[]): Bundled {
  const body = readFileSync(find(`${spec.name}.lua`, folders), "utf8");
  const [header, ...rest] = body.split("\n");
  if (!header?.startsWith(`-- ${spec.summary.replace(/\.$/, "")}`)) {
    throw new Error(`${spec.name}.lua: the header does not open with "${spec.summary}"`);
  }
  const text = include(rest.join("\n"), folders);
  const source = [header, prologue(spec, text), text].join("\n").trimEnd();
  const sha = createHash("sha1").update(source).digest("hex");
  return { name: spec.name, source, sha, ...scriptAccess(spec, source) };
}

/** Puts libraries where they are asked for, as deep as they stand there; one may ask for another. */
function include(text: string, folders: readonly string[]): string {
  return text.replaceAll(/^( *)--@include (\S+)$/gm, (_, indent: string, name: string) => {
    const library = readFileSync(find(join("lib", `${name}.lua`), folders), "utf8").trimEnd();
    return include(library, folders).replaceAll(/^(?=.)/gm, indent);
  });
}

function find(file: string, folders: readonly string[]): string {
  const at = folders.map((folder) => join(folder, file)).find(existsSync);
  if (at === undefined) throw new Error(`no ${file} in ${folders.join(", ")}`);
  return at;
}
