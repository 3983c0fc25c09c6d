import { cli, EXIT } from "./cli.js";

const interrupt = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // The second one means now.
    if (interrupt.signal.aborted) process.exit(EXIT.interrupted);
    interrupt.abort();
  });
}
process.exitCode = await cli({
  argv: process.argv.slice(2),
  env: process.env,
  out: process.stdout,
  err: process.stderr,
  signal: interrupt.signal,
});
