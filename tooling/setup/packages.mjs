/** The workspace's packages and the entry points they export. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Packages in the given folders, as `{ name, folder, manifest }`. */
export async function packages(folders = ["packages"]) {
  const found = [];
  for (const base of folders) {
    for (const entry of (await readdir(base)).sort()) {
      const folder = join(base, entry);
      const text = await readFile(join(folder, "package.json"), "utf8").catch(() => undefined);
      if (text === undefined) continue;
      const manifest = JSON.parse(text);
      found.push({ name: manifest.name, folder, manifest });
    }
  }
  return found;
}

/** Code entry points of a manifest, as `{ path, types }`; `path` is `.` or `./name`. */
export function entryPoints(manifest) {
  return Object.entries(manifest.exports ?? {})
    .filter(([, target]) => typeof target === "object" && target.types)
    .map(([path, target]) => ({ path, types: target.types }));
}
