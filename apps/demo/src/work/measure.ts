import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** What a job is asked to do. */
export interface FileTask {
  /** File to measure, relative to the root of the workspace. */
  readonly path: string;
  /** How long the job keeps the file before it reads it, in ms; for the jobs the story waits for. */
  readonly holdMs?: number;
}

/** What a job finds out about its file. */
export interface FileFacts {
  readonly bytes: number;
  readonly sha256: string;
  /** Line feeds in the file. */
  readonly lines: number;
}

const LINE_FEED = 10;

/**
 * The work itself, the same on v1 and on v2: reads one file as a stream.
 * @throws Error `ENOENT` where there is no such file, which fails the job.
 */
export async function measure(root: string, task: FileTask): Promise<FileFacts> {
  if (task.holdMs !== undefined) await sleep(task.holdMs);
  const hash = createHash("sha256");
  let bytes = 0;
  let lines = 0;
  for await (const chunk of createReadStream(join(root, task.path)) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
    for (const byte of chunk) if (byte === LINE_FEED) lines += 1;
  }
  return { bytes, sha256: hash.digest("hex"), lines };
}
