import { type ChildProcess, fork } from "node:child_process";
import { EventEmitter } from "node:events";
import { fileURLToPath } from "node:url";
import type { FromChild, ToChild } from "./messages.js";

const SOURCE_FLAGS = ["--conditions=@echomq/source", "--import", "tsx"];
const STDERR_KEPT = 2_000;
const STOP_WITHIN_MS = 15_000;

/** Programs of the demo that run in a process of their own. */
export type Program = "v1-worker" | "v1-producer" | "v2-worker";

const PROGRAMS: Readonly<Record<Program, URL>> = {
  "v1-worker": new URL("./v1-worker.ts", import.meta.url),
  "v1-producer": new URL("./v1-producer.ts", import.meta.url),
  "v2-worker": new URL("./v2-worker.ts", import.meta.url),
};

/** A child process that is told a task of type `Task`. */
export class Child<Task> {
  readonly pid: number;
  /** Settles once the process is gone. */
  readonly gone: Promise<void>;
  readonly #process: ChildProcess;
  readonly #program: Program;
  readonly #messages = new EventEmitter<{ message: [FromChild] }>();
  #stderr = "";
  #expected = false;

  private constructor(program: Program, root: string) {
    this.#program = program;
    const child = fork(fileURLToPath(PROGRAMS[program]), [], {
      cwd: root,
      execArgv: SOURCE_FLAGS,
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      // A group of its own: Ctrl-C is the parent's to answer.
      detached: true,
    });
    this.#process = child;
    this.pid = child.pid ?? 0;
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_KEPT);
    });
    child.on("message", (message: FromChild) => this.#messages.emit("message", message));
    const ended = new Promise<void>((resolve) => {
      child.once("error", () => resolve());
      child.once("exit", () => resolve());
    });
    // What a child said last may come after its end.
    const heard = new Promise<void>((resolve) => child.once("disconnect", () => resolve()));
    this.gone = ended.then(() => (child.connected ? heard : undefined));
    void this.gone.then(() => {
      if (this.#expected) return;
      const text = `the ${program} (pid ${this.pid}) ended by itself. ${this.#stderr}`.trim();
      this.#messages.emit("message", { type: "trouble", text });
    });
  }

  /** Starts a program; {@link loaded} tells when it listens. */
  static spawn<Task>(program: Program, root: string): Child<Task> {
    return new Child<Task>(program, root);
  }

  /**
   * Waits until the program listens.
   * @throws Error when it ends before.
   */
  loaded(): Promise<true> {
    return this.next((message) => (message.type === "loaded" ? true : undefined));
  }

  onMessage(listener: (message: FromChild) => void): void {
    this.#messages.on("message", listener);
  }

  /**
   * The first message that `pick` gives a value for.
   * @throws Error when the child has trouble first.
   */
  next<T>(pick: (message: FromChild) => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const listener = (message: FromChild): void => {
        const picked = pick(message);
        if (picked === undefined && message.type !== "trouble") return;
        this.#messages.off("message", listener);
        if (picked !== undefined) resolve(picked);
        else reject(new Error(message.type === "trouble" ? message.text : ""));
      };
      this.#messages.on("message", listener);
    });
  }

  begin(task: Task): void {
    this.#send({ type: "start", task });
  }

  /**
   * Lets the child finish what it holds and end.
   * @throws Error when it does not end in time; it is killed then.
   */
  async stop(): Promise<void> {
    this.#expected = true;
    this.#send({ type: "stop" });
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), STOP_WITHIN_MS);
    await this.gone;
    clearTimeout(timer);
    if (this.#process.signalCode !== null) {
      throw new Error(`the ${this.#program} did not end within ${STOP_WITHIN_MS / 1_000} s`);
    }
  }

  /** Ends the child at once, as `kill -9` does. */
  async kill(): Promise<void> {
    this.#expected = true;
    this.#process.kill("SIGKILL");
    await this.gone;
  }

  #send(message: ToChild<Task>): void {
    // A child that is gone has said so by `trouble`.
    if (this.#process.connected) this.#process.send(message, () => undefined);
  }
}
