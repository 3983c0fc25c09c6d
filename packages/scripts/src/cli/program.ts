import type { Host } from "./host.js";

/** A command line that cannot be carried out. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What is used of a program of `commander`, which is the caller's dependency. */
interface Program {
  exitOverride(): unknown;
  configureOutput(output: { writeOut(text: string): void; writeErr(text: string): void }): unknown;
  parseAsync(args: string[], options: { from: "user" }): Promise<unknown>;
}

/** Makes a program write to its host and throw instead of ending the process; before its commands are added. */
export function onHost<P extends Program>(program: P, host: Host): P {
  program.exitOverride();
  program.configureOutput({
    writeOut: (text) => host.stdout.write(text),
    // Told by whoever catches what is thrown.
    writeErr: () => undefined,
  });
  return program;
}

/**
 * Runs a program and answers the exit status: that of the command that ran, told by `status`, or what
 * `failed` makes of an error, a `UsageError` where the command line is wrong. Never rejects.
 */
export async function runProgram(
  program: Program,
  host: Host,
  status: () => number,
  failed: (error: unknown) => number,
): Promise<number> {
  try {
    await program.parseAsync([...host.args], { from: "user" });
    return status();
  } catch (error) {
    const { code, exitCode, message } = error as { [name: string]: unknown };
    if (typeof code !== "string" || !code.startsWith("commander.")) return failed(error);
    if (exitCode === 0) return 0;
    // The help of a command that there is not.
    const none = code === "commander.help" ? "no such command; --help lists them" : String(message);
    return failed(new UsageError(none.replace(/^error: /, "").replaceAll("\n", " ")));
  }
}
