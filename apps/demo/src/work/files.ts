import { type Dirent, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const FOLDER = "node_modules/.pnpm";
const LARGEST_BYTES = 1024 * 1024;

/**
 * Chooses files of the installed packages: the same ones in every run of the same installation, spread
 * over all packages.
 * @throws Error when fewer are installed.
 */
export function chooseFiles(root: string, count: number): string[] {
  const all = filesUnder(root, FOLDER).sort();
  if (all.length < count) {
    throw new Error(
      `${FOLDER} holds ${all.length} files that fit, ${count} are needed; ask for fewer with --jobs`,
    );
  }
  return Array.from({ length: count }, (_, at) => all[Math.floor((at * all.length) / count)] ?? "");
}

function filesUnder(root: string, folder: string): string[] {
  const found: string[] = [];
  for (const entry of entriesOf(join(root, folder))) {
    const path = `${folder}/${entry.name}`;
    // Links lead to files that are met in their own place.
    if (entry.isDirectory()) found.push(...filesUnder(root, path));
    else if (entry.isFile() && fits(join(root, path))) found.push(path);
  }
  return found;
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // not installed, or just gone
  }
}

function fits(file: string): boolean {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return size > 0 && size <= LARGEST_BYTES;
}
