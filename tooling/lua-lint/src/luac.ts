import { spawnSync } from "node:child_process";
import type { Finding } from "./finding.js";

/** Syntax of one file by a real compiler, or null where that compiler is not installed. */
export function luacFinding(compiler: string, file: string): Finding | "ok" | null {
  const { error, status, stderr } = spawnSync(compiler, ["-p", "--", file], { encoding: "utf8" });
  if (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  if (status === 0) return "ok";
  const line = Number(/:(\d+):/.exec(stderr)?.[1] ?? 1);
  return { rule: "W10", line, message: stderr.trim() || `${compiler} ended with ${status}` };
}
