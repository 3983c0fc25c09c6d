import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** A program of `support/programs` in a process of its own. */
export interface Child {
  readonly pid: number;
  /** What it has sent so far. */
  readonly messages: readonly string[];
  send(text: string): void;
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Its end: exit code or signal. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/** Starts a program from its source; it is ended with the test. */
export function startChild(program: string, settings: Record<string, unknown>): Child {
  const file = fileURLToPath(new URL(`./programs/${program}.ts`, import.meta.url));
  const child = fork(file, [JSON.stringify(settings)], {
    execArgv: ["--conditions=@echomq/source", "--import", "tsx"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const messages: string[] = [];
  child.on("message", (message) => messages.push(String(message)));
  const ended = endOf(child);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    pid: child.pid ?? 0,
    messages,
    ended,
    send: (text) => void child.send(text),
    kill: async (signal = "SIGKILL") => {
      child.kill(signal);
      await ended;
    },
  };
}

/** What a program told on its way and how it ended. */
export interface Told {
  readonly lines: readonly string[];
  readonly end: number | NodeJS.Signals;
}

/** Runs a compiled program to its end; all it has told by then is read, however it ended. */
export async function runProgram(
  file: string,
  settings: Record<string, unknown>,
  nodeOptions: readonly string[] = [],
): Promise<Told> {
  const args = [...nodeOptions, file, JSON.stringify(settings)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const chunks: string[] = [];
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => chunks.push(chunk));
  const kill = (): boolean => child.kill("SIGKILL");
  onTestFinished(() => void kill());
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  const lines = chunks
    .join("")
    .split("\n")
    .filter((line) => line !== "");
  return { lines, end: code ?? signal ?? 0 };
}

async function endOf(child: ChildProcess): Promise<number | NodeJS.Signals> {
  const [code, signal] = await once(child, "exit");
  return (code ?? signal) as number | NodeJS.Signals;
}
