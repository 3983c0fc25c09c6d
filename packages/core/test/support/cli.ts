import { fileURLToPath } from "node:url";
import { type ProgramRun, startProgram, type Told, tellOf } from "@echomq/testkit";
import { main } from "../../src/cli/program.js";

const CLI = fileURLToPath(new URL("../../src/cli.ts", import.meta.url));

/** Runs the command line in this process. */
export function runMain(...args: string[]): Promise<Told> {
  return tellOf(main, args);
}

/** As {@link runMain}, with an environment, and on a terminal when `tty` says so. */
export function runMainAt(
  options: { readonly env?: Readonly<Record<string, string>>; readonly tty?: boolean },
  ...args: string[]
): Promise<Told> {
  return tellOf(main, args, options);
}

/** Starts the command line in a process of its own. */
export function startCli(env: Readonly<Record<string, string>>, ...args: string[]): ProgramRun {
  return startProgram(CLI, args, env);
}
