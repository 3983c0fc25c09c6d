import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServerBinary } from "./binary.js";
import { answers } from "./ready.js";

/** One run of a server program. */
export interface ServerProcess {
  readonly pid: number;
  /** Sends a signal and, unless it only pauses or resumes, waits for the end. */
  end(signal: NodeJS.Signals): Promise<void>;
}

const READY_WITHIN_MS = 10_000;
const PAUSING: readonly string[] = ["SIGSTOP", "SIGCONT"];

/**
 * Starts a server and waits until it answers.
 * @throws Error with the end of the server's log where it does not start.
 */
export async function spawnServer(
  binary: ServerBinary,
  port: number,
  dir: string,
  args: readonly string[],
): Promise<ServerProcess> {
  const log = join(dir, "server.log");
  const own = ["--port", String(port), "--bind", "127.0.0.1", "--dir", dir, "--logfile", log];
  const child = spawn(binary.command, [...own, ...args], {
    env: { ...process.env, ...binary.env },
    stdio: "ignore",
    // A group of its own: Ctrl-C reaches the program under test, which still needs the server.
    detached: true,
  });
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  child.unref();
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${binary.command} cannot be started`);
  const guard = watch(pid, dir);
  void exited.then(() => guard.kill("SIGKILL"));
  await waitUntilReady(child, port, pid, log);
  return {
    pid,
    end: async (signal) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.ref();
      child.kill(signal);
      if (!PAUSING.includes(signal)) await exited;
      else child.unref();
    },
  };
}

/** A helper that ends the server and its folder when this process is gone, even by `kill -9`. */
function watch(pid: number, dir: string): ChildProcess {
  const script = 'read -r _; kill -9 "$1" 2>/dev/null; rm -rf "$2"';
  const guard = spawn("/bin/sh", ["-c", script, "sh", String(pid), dir], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  guard.once("error", () => undefined);
  guard.unref();
  // The pipe is the signal: it must stay open, but must not keep this process alive.
  const pipe = guard.stdin as unknown as { unref?: () => void } | null;
  pipe?.unref?.();
  return guard;
}

async function waitUntilReady(
  child: ChildProcess,
  port: number,
  pid: number,
  log: string,
): Promise<void> {
  const end = Date.now() + READY_WITHIN_MS;
  while (child.exitCode === null && child.signalCode === null && Date.now() < end) {
    if (await answers(port, pid)) return;
    await sleep(10);
  }
  if (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  const text = await readFile(log, "utf8").catch(() => "");
  throw new Error(`the server on port ${port} did not start: ${text.trim().slice(-500)}`);
}
