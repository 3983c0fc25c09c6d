/** Keeps files small: sources by median, 90th percentile and maximum, Lua by maximum. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { packages } from "./packages.mjs";

const LIMITS = { median: 120, p90: 300, max: 500, lua: 120 };

const sources = [];
const scripts = [];
for (const { folder } of await packages(["packages", "apps", "tooling"])) {
  sources.push(...(await measure(join(folder, "src"), ".ts", ["generated"])));
  scripts.push(...(await measure(join(folder, "lua"), ".lua", [])));
}
const lines = sources.map((file) => file.lines).sort((a, b) => a - b);
const at = (share) => lines[Math.min(lines.length - 1, Math.floor(lines.length * share))] ?? 0;

const problems = [
  ...sources.filter((file) => file.lines > LIMITS.max).map((file) => tooLong(file, LIMITS.max)),
  ...scripts.filter((file) => file.lines > LIMITS.lua).map((file) => tooLong(file, LIMITS.lua)),
];
if (at(0.5) > LIMITS.median) problems.push(`the median is ${at(0.5)} lines, over ${LIMITS.median}`);
if (at(0.9) > LIMITS.p90)
  problems.push(`the 90th percentile is ${at(0.9)} lines, over ${LIMITS.p90}`);
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

function tooLong({ path, lines: count }, limit) {
  return `${path} has ${count} lines, over ${limit}`;
}

async function measure(folder, extension, skipped) {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !skipped.includes(entry.name)) {
      found.push(...(await measure(path, extension, skipped)));
    } else if (entry.isFile() && entry.name.endsWith(extension)) {
      const text = await readFile(path, "utf8");
      found.push({ path, lines: text.split("\n").length - 1 });
    }
  }
  return found;
}
