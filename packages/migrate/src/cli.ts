#!/usr/bin/env node
import { main } from "./cli/program.js";

const stop = new AbortController();
// The first signal stops between two batches; a second one ends the process at once.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());

process.exitCode = await main({
  args: process.argv.slice(2),
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: stop.signal,
});
