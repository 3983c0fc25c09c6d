import type { Command, RedisDriver, Route } from "@echomq/scripts";

/** What a crashing driver is told. */
export interface CrashOptions {
  /** Commands that pass before the crash. */
  readonly after: number;
  /** Whether the last one reaches the server although its sender never learns. */
  readonly reaches: boolean;
}

/** Counts what passes a driver, and from one command on behaves as if the process had ended. */
export class CrashingDriver implements RedisDriver {
  sent = 0;
  readonly #inner: RedisDriver;
  readonly #options: CrashOptions;
  readonly #root: CrashingDriver;

  constructor(inner: RedisDriver, options: CrashOptions, root?: CrashingDriver) {
    this.#inner = inner;
    this.#options = options;
    this.#root = root ?? this;
  }

  get info(): RedisDriver["info"] {
    return this.#inner.info;
  }

  get state(): RedisDriver["state"] {
    return this.#inner.state;
  }

  async command(args: Command, route?: Route): ReturnType<RedisDriver["command"]> {
    return this.#pass(() => this.#inner.command(args, route));
  }

  async pipeline(commands: readonly Command[], route?: Route): ReturnType<RedisDriver["pipeline"]> {
    return this.#pass(() => this.#inner.pipeline(commands, route));
  }

  async fork(role: Parameters<RedisDriver["fork"]>[0]): Promise<RedisDriver> {
    return new CrashingDriver(await this.#inner.fork(role), this.#options, this.#root);
  }

  onState(listener: Parameters<RedisDriver["onState"]>[0]): () => void {
    return this.#inner.onState(listener);
  }

  close(mode?: "drain" | "now"): Promise<void> {
    return this.#inner.close(mode);
  }

  async #pass<T>(send: () => Promise<T>): Promise<T> {
    const { after, reaches } = this.#options;
    this.#root.sent += 1;
    if (this.#root.sent <= after) return send();
    if (this.#root.sent === after + 1 && reaches) await send();
    throw new Error("the process has ended");
  }
}
