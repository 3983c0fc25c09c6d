/** `npm run bench`: starts a server, measures, prints a Markdown table. */
import { writeFile } from "node:fs/promises";
import { startServer } from "@echomq/testkit";
import { Redis } from "ioredis";
import { type Args, HELP, readArgs } from "./args.js";
import { CASES } from "./cases.js";
import { bundleChild } from "./child/bundle.js";
import { planFor } from "./plan.js";
import { machine } from "./report/machine.js";
import { markdown } from "./report/markdown.js";
import { measure } from "./results.js";
import { knowsClaimAhead } from "./sides/ours.js";

const started: number = performance.now();

function say(line: string): void {
  const seconds = Math.round((performance.now() - started) / 1_000);
  process.stderr.write(`bench ${String(seconds).padStart(4)} s  ${line}\n`);
}

async function bench(args: Args): Promise<void> {
  const cases = CASES.filter(({ id }) => args.only?.includes(id) ?? true);
  const bundle = await bundleChild();
  process.once("exit", bundle.remove);
  process.setMaxListeners(30); // one for each child
  // The server and the children end with this process.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));
  await using server = await startServer();
  const control = new Redis(server.url);
  try {
    const about = machine(await control.info());
    const claimAhead = await knowsClaimAhead();
    const plan = planFor(args);
    say(`Redis ${about.redis} on ${server.url}, ${plan.rounds} rounds`);
    const parts = { port: server.port, control, plan, childFile: bundle.file, claimAhead };
    const found = await measure(parts, cases, say);
    process.stdout.write(markdown(about, found));
    if (args.json === undefined) return;
    const { results, unavailable } = found;
    const json = { machine: about, cases: results, unavailable };
    await writeFile(args.json, `${JSON.stringify(json, null, 2)}\n`);
  } finally {
    control.disconnect();
  }
}

async function main(argv: readonly string[]): Promise<void> {
  let args: Args;
  try {
    args = readArgs(argv);
  } catch (error) {
    say(`${(error as Error).message}; --help tells the options`);
    process.exitCode = 2;
    return;
  }
  if (args.help) process.stdout.write(HELP);
  else await bench(args);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = 1;
});
