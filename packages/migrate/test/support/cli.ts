import { fileURLToPath } from "node:url";
import { type ProgramEnd, type ProgramRun, startProgram, type Told, tellOf } from "@echomq/testkit";
import { main } from "../../src/cli/program.js";

const CLI = fileURLToPath(new URL("../../src/cli.ts", import.meta.url));

/** Starts the tool; an environment may come first. */
export function startCli(
  first: string | Readonly<Record<string, string>>,
  ...rest: string[]
): ProgramRun {
  const [extra, args] = typeof first === "string" ? [{}, [first, ...rest]] : [first, rest];
  return startProgram(CLI, args, { NO_COLOR: "1", ...extra });
}

/** Runs the tool to its end. */
export function runCli(first: string, ...rest: string[]): Promise<ProgramEnd> {
  return startCli(first, ...rest).done;
}

/** Runs the tool in this process. */
export function runMain(...args: string[]): Promise<Told> {
  return tellOf(main, args);
}

/** As {@link runMain}, with an environment and on something that says whether it is a terminal. */
export function runMainAt(
  options: { readonly tty: boolean; readonly env: Readonly<Record<string, string>> },
  ...args: string[]
): Promise<Told> {
  return tellOf(main, args, options);
}
