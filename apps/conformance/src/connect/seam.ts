import type {
  Command,
  DriverState,
  LaneRole,
  RedisDriver,
  Reply,
  Route,
  Settled,
} from "@echomq/scripts";
import { textOf } from "./refusal.js";

/** One command that passed the driver seam, as text, and the server's error if it answered one. */
export interface Sent {
  readonly command: readonly string[];
  error: string | undefined;
}

/** A digest of no script. */
const UNKNOWN_SHA = "0".repeat(40);

/** Sees every command of every lane of a driver, and makes the lanes known in the monitor's stream. */
export class Seam {
  readonly sent: Sent[] = [];
  readonly #token: string;
  /** Digests already asked for under a name no server knows; undefined while nothing is forgotten. */
  #forgotten: Set<string> | undefined;

  /** `token` is what each lane says first with `ECHO`. */
  constructor(token: string) {
    this.#token = token;
  }

  /** Wraps a lane and all lanes forked from it. */
  async observe(inner: RedisDriver): Promise<RedisDriver> {
    await this.#introduce(inner);
    let { epoch } = inner.state;
    const stop = inner.onState((state) => {
      if (state.status !== "ready" || state.epoch === epoch) return;
      // A new connection has a new address in the monitor's stream.
      epoch = state.epoch;
      void this.#introduce(inner);
    });
    return new SeenLane(this, inner, stop);
  }

  /** From now on the first call of each script meets a server that does not know it. */
  forgetScripts(): void {
    this.#forgotten = new Set();
  }

  rememberScripts(): void {
    this.#forgotten = undefined;
  }

  note(command: Command): { readonly entry: Sent; readonly command: Command } {
    const entry: Sent = { command: command.map(argText), error: undefined };
    this.sent.push(entry);
    const [name, sha = ""] = entry.command;
    if (name !== "EVALSHA" || !this.#forgotten || this.#forgotten.has(sha))
      return { entry, command };
    this.#forgotten.add(sha);
    return { entry, command: ["EVALSHA", UNKNOWN_SHA, ...command.slice(2)] };
  }

  async #introduce(lane: RedisDriver): Promise<void> {
    // A user without this right only makes the monitor's record poorer.
    await lane.command(["ECHO", this.#token]).catch(() => undefined);
  }
}

class SeenLane implements RedisDriver {
  readonly #seam: Seam;
  readonly #inner: RedisDriver;
  readonly #stop: () => void;

  constructor(seam: Seam, inner: RedisDriver, stop: () => void) {
    this.#seam = seam;
    this.#inner = inner;
    this.#stop = stop;
  }

  get info(): RedisDriver["info"] {
    return this.#inner.info;
  }

  get state(): DriverState {
    return this.#inner.state;
  }

  async command(args: Command, route?: Route): Promise<Reply> {
    const { entry, command } = this.#seam.note(args);
    try {
      return await this.#inner.command(command, route);
    } catch (error) {
      entry.error = textOf(error);
      throw error;
    }
  }

  async pipeline(commands: readonly Command[], route?: Route): Promise<readonly Settled<Reply>[]> {
    const noted = commands.map((command) => this.#seam.note(command));
    const settled = await this.#inner.pipeline(
      noted.map(({ command }) => command),
      route,
    );
    settled.forEach((one, at) => {
      const entry = noted[at]?.entry;
      if (!one.ok && entry) entry.error = textOf(one.error);
    });
    return settled;
  }

  async fork(role: LaneRole, signal?: AbortSignal): Promise<RedisDriver> {
    return this.#seam.observe(await this.#inner.fork(role, signal));
  }

  onState(listener: (state: DriverState) => void): () => void {
    return this.#inner.onState(listener);
  }

  close(mode?: "drain" | "now"): Promise<void> {
    this.#stop();
    return this.#inner.close(mode);
  }
}

function argText(arg: string | Uint8Array): string {
  return typeof arg === "string" ? arg : Buffer.from(arg).toString("utf8");
}
