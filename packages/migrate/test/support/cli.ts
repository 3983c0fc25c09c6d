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

/** Starts the tool. */
export function startCli(...args: string[]): CliRun {
  const child = spawn(
    process.execPath,
    ["--conditions=@echomq/source", "--import", "tsx", CLI, ...args],
    { env: { ...process.env, NO_COLOR: "1" }, stdio: ["ignore", "pipe", "pipe"] },
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
  ...args: string[]
): Promise<{ status: number | null; stdout: string; stderr: string }> {
  return startCli(...args).done;
}

/** Runs the tool in this process. */
export async function runMain(
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
    env: {},
    stdout: into("stdout"),
    stderr: into("stderr"),
    signal,
  });
  return { status, ...text };
}
