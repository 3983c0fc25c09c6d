import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { LintOptions } from "./finding.js";

/** A bundled script on disk with what its registry says of it. */
export interface BundleFile {
  readonly file: string;
  readonly options: LintOptions;
}

/** What a generated manifest says of a script, as far as the lint needs it. */
interface Entry extends Required<LintOptions> {
  readonly file: string;
  readonly sha: string;
}

const PACKAGES = fileURLToPath(new URL("../../../packages", import.meta.url));

/**
 * Every bundled script of every package that has a manifest of scripts.
 * @throws Error when bundle and manifest are not of one generation, which `pnpm gen` mends.
 */
export function bundleFiles(packages: string = PACKAGES): readonly BundleFile[] {
  return readdirSync(packages).flatMap((name) => {
    const folder = join(packages, name);
    const manifest = join(folder, "manifest.json");
    return existsSync(manifest) ? filesOf(folder, manifest) : [];
  });
}

function filesOf(folder: string, manifest: string): readonly BundleFile[] {
  const { scripts } = JSON.parse(readFileSync(manifest, "utf8")) as { scripts: readonly Entry[] };
  const bundle = join(folder, "bundle");
  const there = existsSync(bundle) ? readdirSync(bundle).map((name) => join(bundle, name)) : [];
  const listed = new Set(scripts.map(({ file }) => join(folder, file)));
  const orphan = there.find((file) => !listed.has(file));
  if (orphan) throw new Error(`${orphan} is in no manifest: run pnpm gen`);
  return scripts.map(({ file, sha, name, writes, fence }) => {
    const at = join(folder, file);
    const text = existsSync(at) ? readFileSync(at, "utf8").replace(/\n$/, "") : "";
    if (createHash("sha1").update(text).digest("hex") !== sha) {
      throw new Error(`${at} is not what the manifest names: run pnpm gen`);
    }
    return { file: at, options: { name, writes, fence } };
  });
}
