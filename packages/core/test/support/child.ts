import { type ChildProcess, fork } from "node:child_process";
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

async function endOf(child: ChildProcess): Promise<number | NodeJS.Signals> {
  const [code, signal] = await once(child, "exit");
  return (code ?? signal) as number | NodeJS.Signals;
}
