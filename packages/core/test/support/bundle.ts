import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsup";

// Below this package, so that the clients it leaves out resolve as they do for everyone else.
const TEMP = fileURLToPath(new URL("../../temp/", import.meta.url));

/** A program as one file, and the way to remove it. */
export interface Bundle {
  readonly file: string;
  remove(): Promise<void>;
}

/**
 * Compiles a program of `support/programs` to one file of JavaScript: it starts several times faster than
 * from its source, which counts where a test starts many.
 */
export async function bundleProgram(program: string): Promise<Bundle> {
  await mkdir(TEMP, { recursive: true });
  const outDir = await mkdtemp(join(TEMP, `${program}-`));
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
  const remove = (): Promise<void> => rm(outDir, { recursive: true, force: true });
  return { file: join(outDir, `${program}.mjs`), remove };
}
