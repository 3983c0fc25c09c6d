import { type ChildProcess, spawn } from "node:child_process";
import { PassThrough } from "node:stream";
import type { Host } from "@echomq/scripts/cli";

/** How a process of a command line ended. */
export interface ProgramEnd {
  readonly status: number | null;
  /** The signal it died by, else null. */
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command line in a process of its own. */
export interface ProgramRun {
  readonly process: ChildProcess;
  readonly done: Promise<ProgramEnd>;
}

/** Starts a TypeScript file of the workspace as a program. */
export function startProgram(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ProgramRun {
  const child = spawn(
    process.execPath,
    ["--conditions=@echomq/source", "--import", "tsx", file, ...args],
    { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] },
  );
  const text = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      text[name] += chunk;
    });
  }
  const done = new Promise<ProgramEnd>((resolve) => {
    child.once("close", (status, signal) => resolve({ status, signal, ...text }));
  });
  return { process: child, done };
}

/** What a command line wrote, and its exit status. */
export interface Told {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line in this process, with an environment of its own, on a terminal when `tty` says so. */
export async function tellOf(
  main: (host: Host) => Promise<number>,
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly tty?: boolean } = {},
): Promise<Told> {
  const { env = {}, tty = false } = options;
  const text = { stdout: "", stderr: "" };
  const into = (name: "stdout" | "stderr"): PassThrough & { readonly isTTY: boolean } => {
    const stream = new PassThrough();
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text[name] += chunk;
    });
    return Object.assign(stream, { isTTY: tty });
  };
  const streams = { stdout: into("stdout"), stderr: into("stderr") };
  const { signal } = new AbortController();
  const status = await main({ args, env, ...streams, signal, version: "0.0.0-test" });
  return { status, ...text };
}
