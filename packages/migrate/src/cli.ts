#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { start } from "@echomq/scripts/cli";
import { main } from "./cli/program.js";

const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");

await start(main, {
  version: String(JSON.parse(manifest).version),
  stopping:
    "Stopping after the step under way. Once more ends it at once; either way the same command goes on.",
});
