#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { start } from "@echomq/scripts/cli";
import { main } from "./cli/program.js";

const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");

// A signal ends it at once: every step is whole by itself.
await start(main, { version: String(JSON.parse(manifest).version) });
