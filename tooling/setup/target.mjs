/** Runs a program of the workspace in the foreground and hands its end on. */
import { spawn } from "node:child_process";
import { onInterrupt } from "./interrupt.mjs";
import { toolEnv } from "./pnpm.mjs";

/** Flags with which Node runs the workspace's TypeScript sources. */
export const SOURCE_FLAGS = ["--conditions=@echomq/source", "--import", "tsx"];

/** Runs Node in the foreground; resolves to `{ code, signal }`. Signals reach the program. */
export function foreground(root, args, env = {}) {
  return new Promise((resolve, reject) => {
    const options = { stdio: "inherit", env: { ...toolEnv(root), ...env } };
    const child = spawn(process.execPath, args, options);
    const forward = (signal) => {
      // A terminal gives Ctrl-C to the whole group; a second one would cut the clean end short.
      if (signal === "SIGINT" && process.stdin.isTTY) return;
      child.kill(signal);
    };
    const stop = onInterrupt(forward);
    const finish = (act) => {
      stop();
      act();
    };
    child.once("error", (error) => finish(() => reject(error)));
    child.once("close", (code, signal) => finish(() => resolve({ code: code ?? 1, signal })));
  });
}
