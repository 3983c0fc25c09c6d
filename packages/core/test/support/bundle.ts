import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsup";
import { afterAll } from "vitest";

// Below this package, so that the clients it leaves out resolve as they do for everyone else.
const TEMP = fileURLToPath(new URL("../../temp/", import.meta.url));

/**
 * Compiles a program of `support/programs` to one file of JavaScript, removed after the tests of the
 * file: it starts several times faster than from its source, which counts where a test starts many.
 */
export async function bundleProgram(program: string): Promise<string> {
  await mkdir(TEMP, { recursive: true });
  const outDir = await mkdtemp(join(TEMP, `${program}-`));
  afterAll(() => rm(outDir, { recursive: true, force: true }));
  await build({
    config: false,
    entry: [fileURLToPath(new URL(`./programs/${program}.ts`, import.meta.url))],
    outDir,
    outExtension: () => ({ js: ".mjs" }),
    format: ["esm"],
    target: "node20",
    platform: "node",
    noExternal: [/^@echomq\//],
    external: ["ioredis", "redis"],
    skipNodeModulesBundle: false,
    silent: true,
    esbuildOptions: (options) => {
      options.conditions = ["@echomq/source"];
    },
  });
  return join(outDir, `${program}.mjs`);
}
