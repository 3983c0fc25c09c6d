import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FileFacts } from "../work/measure.js";

/**
 * The facts of a file, computed at once and in another way than the jobs do it, so that one mistake
 * cannot hide in both.
 */
export async function directFacts(root: string, path: string): Promise<FileFacts> {
  const content = await readFile(join(root, path));
  const sha256 = createHash("sha256").update(content).digest("hex");
  return {
    bytes: content.length,
    sha256,
    lines: content.toString("latin1").split("\n").length - 1,
  };
}
