import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { ChildSettings, Order } from "./protocol.js";

const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));
const FLAGS = ["--conditions=@echomq/source", "--import", "tsx"];

/** A forked process, as its parent sees it; it is ended with its parent. */
export class Child {
  readonly settings: ChildSettings;
  readonly ended: Promise<void>;
  /** True once it is at work. */
  readonly ready: Promise<boolean>;
  readonly #process: ChildProcess;
  #stopped = false;

  /** `shiftMs` is how wrong its clock is from the beginning. */
  constructor(settings: ChildSettings, shiftMs: number) {
    this.settings = settings;
    this.#process = fork(MAIN, [JSON.stringify(settings)], {
      execArgv: FLAGS,
      env: { ...process.env, ECHOMQ_SOAK_SHIFT: String(shiftMs), NODE_NO_WARNINGS: "1" },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#process.on("error", () => undefined);
    const kill = (): boolean => this.#process.kill("SIGKILL");
    process.once("exit", kill);
    this.ended = once(this.#process, "exit").then(() => {
      process.off("exit", kill);
    });
    const ready = once(this.#process, "message").then(() => true);
    this.ready = Promise.race([ready, this.ended.then(() => false)]);
  }

  get name(): string {
    return this.settings.name;
  }

  get alive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** How it ended: an exit code or a signal; undefined while it lives. */
  get end(): number | NodeJS.Signals | undefined {
    return this.#process.exitCode ?? this.#process.signalCode ?? undefined;
  }

  tell(order: Order): void {
    // One that was just killed hears nothing.
    if (this.#process.connected) this.#process.send(order, () => undefined);
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.ended;
  }

  /** Stops it as if its event loop hung, or lets it go on. */
  hang(on: boolean): void {
    if (!this.alive) return;
    this.#stopped = on;
    this.#process.kill(on ? "SIGSTOP" : "SIGCONT");
  }

  get stopped(): boolean {
    return this.#stopped;
  }
}
