import type {
  Command,
  DriverState,
  LaneRole,
  RedisDriver,
  Reply,
  Route,
  Settled,
} from "@echomq/scripts";
import { keysOf } from "./keys.js";
import { StrictUser } from "./user.js";

/** Where strict mode runs and how a plain driver is made there. */
export interface StrictOptions {
  /** Address of a server whose user may run `ACL SETUSER`. */
  readonly url: string;
  /** Makes the driver under test from an address that carries a user and a password. */
  readonly make: (url: string) => Promise<RedisDriver>;
}

/**
 * A driver whose server refuses every key a call does not declare. Calls run one at a time, pipelines
 * command by command, each lane under a user of its own.
 * @throws Error where the server does not let its client manage users, or is a cluster.
 */
export function strictDriver(options: StrictOptions): Promise<RedisDriver> {
  return openLane(options, "main");
}

async function openLane(options: StrictOptions, role: LaneRole): Promise<RedisDriver> {
  const user = await StrictUser.create(options.url);
  const opened: RedisDriver[] = [];
  try {
    const base = await options.make(user.url);
    opened.push(base);
    if (base.info.cluster) throw new Error("strict mode runs on a single server, not on a cluster");
    const lane = role === "main" ? base : await base.fork(role);
    if (lane !== base) opened.unshift(lane);
    return new StrictLane(options, user, lane, opened);
  } catch (error) {
    for (const driver of opened) await driver.close("now");
    await user.remove();
    throw error;
  }
}

class StrictLane implements RedisDriver {
  readonly #options: StrictOptions;
  readonly #user: StrictUser;
  readonly #inner: RedisDriver;
  readonly #opened: readonly RedisDriver[];
  #tail: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #closed = false;

  constructor(
    options: StrictOptions,
    user: StrictUser,
    inner: RedisDriver,
    opened: readonly RedisDriver[],
  ) {
    this.#options = options;
    this.#user = user;
    this.#inner = inner;
    this.#opened = opened;
  }

  get info(): RedisDriver["info"] {
    return this.#inner.info;
  }

  get state(): DriverState {
    return this.#inner.state;
  }

  command(args: Command, route?: Route): Promise<Reply> {
    return this.#alone(() => this.#call(args, route));
  }

  pipeline(commands: readonly Command[], route?: Route): Promise<readonly Settled<Reply>[]> {
    return this.#alone(async () => {
      const settled: Settled<Reply>[] = [];
      for (const args of commands) settled.push(await this.#settle(args, route));
      return settled;
    });
  }

  fork(role: LaneRole): Promise<RedisDriver> {
    return openLane(this.#options, role);
  }

  onState(listener: (state: DriverState) => void): () => void {
    return this.#inner.onState(listener);
  }

  close(mode: "drain" | "now" = "drain"): Promise<void> {
    this.#closing ??= this.#end(mode);
    return this.#closing;
  }

  async #end(mode: "drain" | "now"): Promise<void> {
    if (mode === "drain") await this.#tail;
    this.#closed = true;
    for (const driver of this.#opened) await driver.close(mode);
    await this.#user.remove();
  }

  async #call(args: Command, route?: Route): Promise<Reply> {
    // A closed lane has no user any more; its own refusal is the right answer.
    if (!this.#closed) await this.#user.allow(keysOf(args));
    return this.#inner.command(args, route);
  }

  async #settle(args: Command, route?: Route): Promise<Settled<Reply>> {
    try {
      return { ok: true, value: await this.#call(args, route) };
    } catch (error) {
      return { ok: false, error: error instanceof Error ? error : new Error(String(error)) };
    }
  }

  /** Two calls in flight would share one set of rights, so each waits for the one before. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) return this.#closing.then(work);
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => undefined);
    return result;
  }
}
