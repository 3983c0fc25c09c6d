import type { FromChild, ToChild } from "./messages.js";

/** What a child does with its parent's messages. */
export interface Duty<Task> {
  start(task: Task): Promise<void>;
  stop(): Promise<void>;
}

/** Tells the parent something. */
export function tell(message: FromChild): void {
  if (process.connected) process.send?.(message);
}

/** Serves the parent until it says stop, or is gone. */
export function serve<Task>(duty: Duty<Task>): void {
  // Without a parent nobody would end this process.
  if (!process.connected) process.exit(1);
  process.once("disconnect", () => process.exit(1));
  process.on("message", (message: ToChild<Task>) => {
    const done = message.type === "start" ? duty.start(message.task) : end(duty);
    done.catch((error: unknown) => {
      tell({ type: "trouble", text: error instanceof Error ? error.message : String(error) });
    });
  });
  tell({ type: "loaded" });
}

const LAST: FromChild = { type: "done" };

async function end<Task>(duty: Duty<Task>): Promise<void> {
  await duty.stop();
  // Written after all others, so they have reached the parent too.
  await new Promise<void>((resolve) => process.send?.(LAST, () => resolve()));
  process.exit(0);
}

const TELL_EVERY_MS = 50;

/** Collects ids of ended jobs and tells them in batches, so that talk does not slow the work. */
export class EndedJobs {
  #completed: string[] = [];
  #failed: string[] = [];
  #timer: NodeJS.Timeout | undefined;

  completed(id: string): void {
    this.#completed.push(id);
    this.#timer ??= setTimeout(() => this.flush(), TELL_EVERY_MS);
  }

  failed(id: string): void {
    this.#failed.push(id);
    this.#timer ??= setTimeout(() => this.flush(), TELL_EVERY_MS);
  }

  /** Tells what was collected at once. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#completed.length + this.#failed.length === 0) return;
    tell({ type: "ended", completed: this.#completed, failed: this.#failed });
    this.#completed = [];
    this.#failed = [];
  }
}
