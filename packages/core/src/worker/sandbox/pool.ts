import { statSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { ResourceLimits } from "node:worker_threads";
import { refuse, shown } from "../../options/check.js";
import type { JobContext } from "../types.js";
import { type SandboxJob, Thread } from "./thread.js";

/**
 * The URL of a handler's file: a `file:` URL, or a path from the working directory.
 * @throws ValidationError `VALIDATION` naming `handler`.
 */
export function handlerFile(handler: URL | string): string {
  const text = handler instanceof URL ? handler.href : handler;
  if (/^[a-z][a-z\d+.-]+:/i.test(text) && !text.startsWith("file:")) {
    refuse("handler", `must be a file, got ${shown(text)}`);
  }
  const url = text.startsWith("file:") ? text : pathToFileURL(resolve(text)).href;
  if (!isFile(url)) refuse("handler", `must be a file that exists, got ${shown(text)}`);
  return url;
}

function isFile(url: string): boolean {
  try {
    return statSync(fileURLToPath(url)).isFile();
  } catch {
    return false;
  }
}

/** Threads of one handler: as many as jobs run at once, each for one job at a time. */
export class SandboxPool {
  readonly #file: string;
  readonly #limits: ResourceLimits | undefined;
  readonly #threads = new Set<Thread>();
  readonly #idle: Thread[] = [];
  #closed = false;

  constructor(file: string, limits: ResourceLimits | undefined) {
    this.#file = file;
    this.#limits = limits;
  }

  /** Threads that stand, busy or not. */
  get size(): number {
    return this.#threads.size;
  }

  /** Runs one job in a thread; one that died with its job is replaced by the next run. */
  async run(job: SandboxJob, context: JobContext): Promise<unknown> {
    const thread = this.#take();
    try {
      return await thread.run(job, context);
    } finally {
      if (thread.alive && !this.#closed) this.#idle.push(thread);
      else this.#threads.delete(thread);
    }
  }

  /** Ends all threads at once. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled([...this.#threads].map((thread) => thread.close()));
  }

  #take(): Thread {
    for (let thread = this.#idle.pop(); thread !== undefined; thread = this.#idle.pop()) {
      if (thread.alive) return thread;
      this.#threads.delete(thread);
    }
    const thread = new Thread(this.#file, this.#limits);
    this.#threads.add(thread);
    return thread;
  }
}
