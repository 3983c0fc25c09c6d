import { readFileSync } from "node:fs";
import { relative } from "node:path";
import type { BundleFile } from "./bundles.js";
import { lintScript } from "./lint.js";
import { luacFinding } from "./luac.js";

/** Outcome of a run over files: one line per finding, and the compilers that were not there. */
export interface Run {
  readonly lines: readonly string[];
  readonly missing: readonly string[];
}

/** Lints files as `file:line rule message`, file names relative to `from`. */
export function lintFiles(
  files: readonly BundleFile[],
  from: string,
  compilers: readonly string[] = ["luac5.1", "luac5.4"],
): Run {
  const missing = new Set<string>();
  const lines: string[] = [];
  for (const { file, options } of files) {
    const findings = lintScript(readFileSync(file, "utf8"), options);
    for (const compiler of compilers) {
      const found = missing.has(compiler) ? null : luacFinding(compiler, file);
      if (found === null) missing.add(compiler);
      else if (found !== "ok") findings.push(found);
    }
    for (const { rule, line, message } of findings) {
      lines.push(`${relative(from, file)}:${line} ${rule} ${message}`);
    }
  }
  return { lines, missing: [...missing] };
}
