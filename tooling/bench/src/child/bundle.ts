import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ENTRY = fileURLToPath(new URL("./main.ts", import.meta.url));
// Below this package, so that the clients it leaves out resolve as they do for everyone else.
const TEMP = fileURLToPath(new URL("../../temp/", import.meta.url));

/** The children's program as one file, and the way to remove it. */
export interface Bundle {
  readonly file: string;
  remove(): void;
}

/**
 * Compiles the children's program once, so that they run plain JavaScript as a published package
 * would: a loader that compiles on the fly slows every closure down a little.
 */
export async function bundleChild(): Promise<Bundle> {
  mkdirSync(TEMP, { recursive: true });
  const dir = mkdtempSync(join(TEMP, "child-"));
  const file = join(dir, "child.mjs");
  await build({
    entryPoints: [ENTRY],
    outfile: file,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["@echomq/source"],
    external: ["ioredis", "redis", "bullmq-67"],
    logLevel: "error",
  });
  return { file, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
