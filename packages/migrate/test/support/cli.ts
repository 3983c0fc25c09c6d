import { type ChildProcess, spawn } from "node:child_process";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { main } from "../../src/cli/program.js";

const CLI = fileURLToPath(new URL("../../src/cli.ts", import.meta.url));

/** One run of the tool in a process of its own. */
export interface CliRun {
  readonly process: ChildProcess;
  readonly done: Promise<{ status: number | null; stdout: string; stderr: string }>;
}

/** Starts the tool; an environment may come first. */
export function startCli(
  first: string | Readonly<Record<string, string>>,
  ...rest: string[]
): CliRun {
  const [extra, args] = typeof first === "string" ? [{}, [first, ...rest]] : [first, rest];
  const child = spawn(
    process.execPath,
    ["--conditions=@echomq/source", "--import", "tsx", CLI, ...args],
    { env: { ...process.env, NO_COLOR: "1", ...extra }, stdio: ["ignore", "pipe", "pipe"] },
  );
  const text = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      text[name] += chunk;
    });
  }
  const done = new Promise<{ status: number | null; stdout: string; stderr: string }>((resolve) => {
    child.once("close", (status) => resolve({ status, ...text }));
  });
  return { process: child, done };
}

/** Runs the tool to its end. */
export function runCli(
  first: string,
  ...rest: string[]
): Promise<{ status: number | null; stdout: string; stderr: string }> {
  return startCli(first, ...rest).done;
}

/** Runs the tool in this process. */
export function runMain(
  ...args: string[]
): Promise<{ status: number; stdout: string; stderr: string }> {
  return runMainAt({ tty: false, env: {} }, ...args);
}

/** As {@link runMain}, with an environment and on something that says whether it is a terminal. */
export async function runMainAt(
  { tty, env }: { readonly tty: boolean; readonly env: Readonly<Record<string, string>> },
  ...args: string[]
): Promise<{ status: number; stdout: string; stderr: string }> {
  const text = { stdout: "", stderr: "" };
  const into = (name: "stdout" | "stderr"): PassThrough => {
    const stream = new PassThrough();
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text[name] += chunk;
    });
    return stream;
  };
  const { signal } = new AbortController();
  const status = await main({
    args,
    env,
    stdout: Object.assign(into("stdout"), { isTTY: tty }),
    stderr: into("stderr"),
    signal,
  });
  return { status, ...text };
}
