/** `npm run soak`: hurts a working queue for a while and proves what must hold. */
import { type Args, HELP, readArgs } from "./args.js";
import { soak } from "./soak.js";

const started: number = performance.now();

function say(line: string): void {
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  process.stdout.write(`${seconds.padStart(7)} s  ${line}\n`);
}

async function main(argv: readonly string[]): Promise<void> {
  let args: Args;
  try {
    args = readArgs(argv);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}; --help tells the options\n`);
    process.exitCode = 2;
    return;
  }
  if (args.help) {
    process.stdout.write(HELP);
    return;
  }
  // The server and the children end with this process.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));
  const { findings, summary } = await soak(args, say);
  say(summary);
  if (findings.length > 0) process.exitCode = 1;
}

main(process.argv.slice(2)).catch((error: unknown) => {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = 1;
});
