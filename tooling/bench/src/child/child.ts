import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Method, Methods, Told } from "./protocol.js";

interface Pending {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** A forked process that works or adds, as its parent sees it. */
export class Child {
  readonly #process: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  #calls = 0;
  #warm = false;
  #broken: Error | undefined;
  /** Completions since the last `expect`. */
  done = 0;
  onProgress: () => void = () => undefined;
  onTrouble: (error: Error) => void = () => undefined;

  constructor(file: string) {
    this.#process = fork(file, { execArgv: [], stdio: ["ignore", "inherit", "inherit", "ipc"] });
    this.#process.on("message", (told: Told) => this.#hear(told));
    const kill = (): boolean => this.#process.kill("SIGKILL");
    process.once("exit", kill);
    this.#process.once("exit", (code, signal) => {
      process.off("exit", kill);
      this.#fail(new Error(`a child process ended with ${signal ?? code}`));
    });
  }

  /**
   * Asks the child and waits for its answer.
   * @throws Error with the child's own words, or where the child ended.
   */
  async call<M extends Method>(
    method: M,
    params: Methods[M]["params"],
  ): Promise<Methods[M]["result"]> {
    if (this.#broken) throw this.#broken;
    this.#calls += 1;
    const id = this.#calls;
    if (method === "expect") this.done = 0;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#process.send({ id, method, params });
    });
  }

  /**
   * How many jobs to do unmeasured before `count` that are measured: as many, since V8 compiles much of a
   * library anew for each worker it meets, and more at first. A worker of a user's lives for hours.
   */
  warmUp(count: number): number {
    const share = this.#warm ? 1 : 3;
    this.#warm = true;
    return share * count;
  }

  /** Ends the child. */
  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exited;
  }

  #hear(told: Told): void {
    switch (told.type) {
      case "progress":
        this.done = told.count;
        this.onProgress();
        break;
      case "trouble":
        this.#fail(new Error(`in a child: ${told.error}`));
        break;
      case "answer":
        this.#take(told.id)?.resolve(told.result as never);
        break;
      case "refusal":
        this.#take(told.id)?.reject(new Error(`in a child: ${told.error}`));
    }
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #fail(error: Error): void {
    this.#broken ??= error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    this.onTrouble(error);
  }
}
