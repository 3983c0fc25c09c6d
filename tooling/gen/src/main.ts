import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { bundle } from "./bundle.js";
import { manifest } from "./manifest.js";
import { bundleModule } from "./module.js";
import { PACKAGES, ROOT } from "./packages.js";
import { wirePage } from "./wire-page.js";

// Writes every generated file, or with --check fails when one is stale.
const check = process.argv.includes("--check");
const made = PACKAGES.map((pkg) => ({
  pkg,
  scripts: Object.values(pkg.registry).map((spec) => bundle(spec, pkg.lua)),
}));

const files = new Map<string, string>();
for (const { pkg, scripts } of made) {
  files.set(join(pkg.folder, "src/generated/bundle.ts"), bundleModule(pkg, scripts));
  files.set(join(pkg.folder, "manifest.json"), manifest(pkg, scripts));
  for (const { name, source } of scripts)
    files.set(join(pkg.folder, `bundle/${name}.lua`), `${source}\n`);
}
files.set(join(ROOT, "docs/wire.md"), wirePage(made));

const stale = [...files].filter(
  ([file, text]) => !existsSync(file) || readFileSync(file, "utf8") !== text,
);
const orphans = PACKAGES.flatMap(({ folder }) => {
  const at = join(folder, "bundle");
  return existsSync(at) ? readdirSync(at).map((name) => join(at, name)) : [];
}).filter((file) => !files.has(file));

if (check) {
  for (const file of [...stale.map(([name]) => name), ...orphans]) {
    console.error(`stale: ${relative(ROOT, file)} (run pnpm gen)`);
  }
  process.exitCode = stale.length + orphans.length > 0 ? 1 : 0;
} else {
  for (const [file, text] of stale) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    console.log(`wrote ${relative(ROOT, file)}`);
  }
  for (const file of orphans) rmSync(file);
}
