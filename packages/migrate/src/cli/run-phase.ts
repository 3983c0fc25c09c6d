import { type Host, UsageError } from "@echomq/scripts/cli";
import { commandFor } from "../command-line.js";
import { checkOptions, createMigration, type Migration } from "../migration.js";
import { checkAddress, connect } from "./connect.js";
import { EXIT, exitStatus } from "./exit.js";
import { addressOf, type Given, lineOf, outputFor } from "./options.js";
import type { Output } from "./output.js";

/** What a command does with a migration; what it answers may say that something is in the way. */
export type Work = (migration: Migration, output: Output) => Promise<object | null>;

/** Runs one command on a queue, from its options to its exit status. Never rejects. */
export async function runPhase(
  host: Host,
  options: Given,
  command: string,
  work: Work,
): Promise<number> {
  const output = outputFor(host, options);
  let again: string | undefined;
  try {
    const { queue, prefix = "bull", as, run, batch, driver: name } = options;
    if (queue === undefined) throw new UsageError("--queue <name> is needed");
    const commandLine = lineOf(host, options);
    const asked = { queue, prefix, commandLine, ...defined({ as, run, batch }) };
    // Before anything is opened: a wrong word is told without a server too.
    const { url, from } = addressOf(host, options);
    checkAddress(url, from);
    const q = checkOptions(asked);
    const driver = await connect(url, name, queue);
    // What a lost connection stopped goes on; an address that was wrong stays so.
    again = commandFor({ queue, prefix, q, commandLine }, command);
    try {
      const { signal } = host;
      const { progress: onProgress } = output;
      const migration = await createMigration({ source: driver, ...asked, signal, onProgress });
      try {
        return blocked(await work(migration, output)) ? EXIT.refused : EXIT.done;
      } finally {
        await migration.close();
      }
    } finally {
      await driver.close();
    }
  } catch (error) {
    output.error(error, again);
    return exitStatus(error);
  } finally {
    output.end();
  }
}

/** A plan with something in the way is a refusal for whoever reads exit statuses. */
function blocked(report: object | null): boolean {
  return (
    report !== null && "blockers" in report && (report.blockers as readonly unknown[]).length > 0
  );
}

function defined<T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as never;
}
