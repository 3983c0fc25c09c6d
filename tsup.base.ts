import type { Options } from "tsup";

/**
 * Build options every published package shares: ESM and types for Node 20, siblings left as imports.
 * Types resolve siblings by their built files, as a consumer does, so packages build in order.
 */
export function library(options: Options = {}): Options {
  return {
    entry: ["src/index.ts"],
    format: ["esm"],
    target: "node20",
    platform: "neutral",
    clean: true,
    sourcemap: true,
    splitting: true, // one copy of a module, however many entries import it
    treeshake: true,
    dts: {
      compilerOptions: {
        customConditions: [],
        // tsup still sets baseUrl, which TypeScript 6 reports
        ignoreDeprecations: "6.0",
        allowImportingTsExtensions: false,
        noEmit: false,
      },
    },
    ...options,
  };
}
