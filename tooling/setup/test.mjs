/** `npm test`: generated files up to date, then every test once; the last line counts. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { say } from "./cache.mjs";
import { foreground, SOURCE_FLAGS } from "./target.mjs";
import { runVitest } from "./vitest.mjs";

/** Runs the tests; the last line on stdout is `N passed, N failed`. */
export async function test(root, args) {
  const stale = await generatedAreStale(root);
  const { passed, failed, notes, signal } = await runVitest(root, args);
  if (stale) notes.unshift("generated files are stale: run pnpm gen");
  for (const note of notes) say(note);
  const all = failed + (stale ? 1 : 0);
  process.stdout.write(`${passed} passed, ${all} failed\n`);
  return { code: all === 0 ? 0 : 1, signal };
}

async function generatedAreStale(root) {
  const program = join(root, "tooling", "gen", "src", "main.ts");
  if (!existsSync(program)) return false;
  const { code } = await foreground(root, [...SOURCE_FLAGS, program, "--check"]);
  return code !== 0;
}
