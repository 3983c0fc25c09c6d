import { type ResourceLimits, Worker } from "node:worker_threads";
import { SandboxError } from "../errors.js";
import { reasonOf } from "../failure.js";
import type { JobContext } from "../types.js";
import { PROGRAM } from "./program.js";

/** How long a thread that was told to stop may go on before it is ended, in ms. */
const GRACE_MS = 5_000;

/** An error as it goes between threads. */
interface PlainError {
  readonly name?: string | undefined;
  readonly message?: string | undefined;
  readonly stack?: string | undefined;
  readonly code?: string | undefined;
  readonly delay?: number | undefined;
}

type FromThread =
  | {
      readonly type: "call";
      readonly id: number;
      readonly method: string;
      readonly args: unknown[];
    }
  | { readonly type: "done"; readonly value: unknown }
  | { readonly type: "failed"; readonly error?: PlainError; readonly value?: unknown };

/** What a handler in a thread may do with its job; all else it has as a copy. */
const METHODS = ["updateProgress", "updateData", "log", "moveToDelayed", "moveToWait", "getState"];

/** A job as the thread's owner has it. */
export type SandboxJob = { toJSON(): Record<string, unknown> };

interface Waiting {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** One thread, which runs one job at a time. */
export class Thread {
  readonly #thread: Worker;
  #dead: SandboxError | undefined;
  #job: SandboxJob | undefined;
  #waiting: Waiting | undefined;

  /** `file` is the URL of the module whose default export is the handler. */
  constructor(file: string, resourceLimits: ResourceLimits | undefined) {
    this.#thread = new Worker(PROGRAM, {
      eval: true,
      workerData: { file },
      ...(resourceLimits === undefined ? {} : { resourceLimits }),
    });
    this.#thread.on("message", (message: FromThread) => void this.#heard(message));
    this.#thread.on("messageerror", (error) => this.#die("sent what cannot be read", error));
    this.#thread.on("error", (error) => this.#die(`died: ${reasonOf(error)}`, error));
    this.#thread.on("exit", (code) => this.#die(`ended with code ${code} before its job`));
  }

  get alive(): boolean {
    return this.#dead === undefined;
  }

  /** Runs one job; rejects with what its handler threw, or with the thread's end. */
  async run(job: SandboxJob, { signal, token }: JobContext): Promise<unknown> {
    let end: NodeJS.Timeout | undefined;
    const stop = (): void => {
      this.#send({ type: "abort", error: plainOf(signal.reason) });
      // A handler that does not listen, or never comes back to its event loop, is ended with its thread.
      end = setTimeout(() => this.#die("did not stop when it was told to"), GRACE_MS);
    };
    try {
      return await new Promise<unknown>((resolve, reject) => {
        if (this.#dead) return reject(this.#dead);
        this.#job = job;
        this.#waiting = { resolve, reject };
        this.#thread.postMessage({ type: "run", job: job.toJSON(), token });
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop, { once: true });
      });
    } finally {
      clearTimeout(end);
      signal.removeEventListener("abort", stop);
      this.#job = undefined;
      this.#waiting = undefined;
    }
  }

  /** Ends the thread at once. */
  async close(): Promise<void> {
    this.#die("was ended");
    await this.#thread.terminate();
  }

  #die(how: string, cause?: unknown): void {
    if (this.#dead) return;
    this.#dead = new SandboxError(`the thread of the handler ${how}`, cause);
    this.#waiting?.reject(this.#dead);
    void this.#thread.terminate();
  }

  async #heard(message: FromThread): Promise<void> {
    if (message.type === "done") this.#waiting?.resolve(message.value);
    else if (message.type === "failed") {
      this.#waiting?.reject(message.error ? errorOf(message.error) : message.value);
    } else {
      const reply = await this.#called(message.method, message.args);
      this.#send({ type: "reply", id: message.id, ...reply });
    }
  }

  async #called(
    method: string,
    args: readonly unknown[],
  ): Promise<{ readonly value: unknown } | { readonly error: PlainError }> {
    const job = this.#job as unknown as Record<string, (...args: unknown[]) => unknown>;
    try {
      if (!this.#job || !METHODS.includes(method)) throw new Error("the run has ended");
      return { value: await job[method]?.(...args) };
    } catch (error) {
      return { error: plainOf(error) };
    }
  }

  #send(message: unknown): void {
    if (this.alive) this.#thread.postMessage(message);
  }
}

function plainOf(thrown: unknown): PlainError {
  const { name, stack, code } = (thrown ?? {}) as Partial<Record<string, unknown>>;
  return {
    name: typeof name === "string" ? name : "Error",
    message: reasonOf(thrown),
    ...(typeof stack === "string" ? { stack } : {}),
    ...(typeof code === "string" ? { code } : {}),
  };
}

/** Control errors keep their name and delay, which is what they are known by. */
function errorOf({ name, message, stack, code, delay }: PlainError): Error {
  const error = new Error(message);
  Object.defineProperty(error, "name", { value: name ?? "Error", configurable: true });
  if (stack !== undefined) error.stack = stack;
  return Object.assign(
    error,
    code === undefined ? {} : { code },
    Number.isFinite(delay) ? { delay } : {},
  );
}
