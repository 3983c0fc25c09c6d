import {
  type Command,
  DriverFault,
  type DriverState,
  type LaneRole,
  type RedisDriver,
  type Reply,
  type Settled,
} from "../driver/types.js";
import { backoffMs } from "./backoff.js";
import { type Connection, closed, connectFault, type Opener, offline } from "./connection.js";
import { StateCell } from "./listeners.js";
import { settle } from "./settle.js";

const DRAIN_MS = 2000;
/** Refusals of who asks, and of the database asked for. */
const REFUSED = /^(?:NOAUTH|WRONGPASS|NOPERM) |^ERR (?:DB index|invalid DB index|SELECT is not)/;

export interface LaneOptions {
  readonly name: string;
  readonly role: LaneRole;
  readonly connectTimeoutMs: number;
}

/** One lane to one server: keeps a connection open until it is closed. */
export class Lane implements RedisDriver {
  readonly info: RedisDriver["info"];
  readonly #opener: Opener;
  readonly #options: LaneOptions;
  readonly #state: StateCell = new StateCell({ status: "connecting", epoch: 0 });
  #connection: Connection | undefined;
  #attempt: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #closed = false;
  #cutDrain: (() => void) | undefined;

  /** Starts connecting at once; use `Lane.open` to wait for the first connection. */
  constructor(opener: Opener, options: LaneOptions) {
    this.info = { name: options.name, cluster: false, protocol: 2 };
    this.#opener = opener;
    this.#options = options;
    void this.#connect();
  }

  /**
   * Opens a lane and waits for its first connection.
   * @throws DriverFault `offline` with the cause after `connectTimeoutMs`, or at once where no such host
   * is known; `reply` when the server refuses the credentials or has no such database; `closed` when
   * `signal` is aborted.
   */
  static async open(opener: Opener, options: LaneOptions, signal?: AbortSignal): Promise<Lane> {
    const lane = new Lane(opener, options);
    await firstReady(lane, options.connectTimeoutMs, signal);
    return lane;
  }

  get state(): DriverState {
    return this.#state.value;
  }

  command(args: Command): Promise<Reply> {
    const connection = this.#connection;
    if (connection === undefined || this.#closed) return Promise.reject(this.#unavailable());
    try {
      return connection.send(args);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  pipeline(commands: readonly Command[]): Promise<readonly Settled<Reply>[]> {
    return Promise.all(commands.map((args) => settle(this.command(args))));
  }

  async fork(role: LaneRole, signal?: AbortSignal): Promise<RedisDriver> {
    if (this.#closed) throw closed();
    return Lane.open(this.#opener, { ...this.#options, role }, signal);
  }

  onState(listener: (state: DriverState) => void): () => void {
    return this.#state.watch(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async close(mode: "drain" | "now" = "drain"): Promise<void> {
    if (mode === "now") this.#cutDrain?.();
    if (!this.#closed) {
      this.#closed = true;
      clearTimeout(this.#timer);
      this.#state.set({ status: "closed", epoch: this.state.epoch });
    }
    if (mode === "drain" && this.#connection !== undefined) await this.#drain(this.#connection);
    this.#attempt?.abort();
    this.#connection?.destroy();
    this.#connection = undefined;
  }

  #unavailable(): DriverFault {
    return this.#closed ? closed() : offline(this.state.error);
  }

  async #drain(connection: Connection): Promise<void> {
    if (connection.pending === 0) return;
    await new Promise<void>((resolve) => {
      const previous = this.#cutDrain;
      const timer = setTimeout(() => this.#cutDrain?.(), DRAIN_MS);
      const done = (): void => {
        clearTimeout(timer);
        previous?.();
        resolve();
      };
      this.#cutDrain = done;
      connection.onIdle = done;
    });
  }

  async #connect(): Promise<void> {
    const attempt = new AbortController();
    this.#attempt = attempt;
    const { role, connectTimeoutMs } = this.#options;
    const timer = setTimeout(
      () => attempt.abort(new Error(`no answer within ${connectTimeoutMs} ms`)),
      connectTimeoutMs,
    );
    let opened: Connection | undefined;
    let gone: Error | undefined;
    const lost = (error: Error): void => {
      gone ??= error;
      if (opened !== undefined) this.#lost(opened, error);
    };
    try {
      const request = { role, connectTimeoutMs, signal: attempt.signal, lost };
      const connection = await this.#opener(request);
      if (gone !== undefined || this.#closed) {
        connection.destroy();
        throw gone ?? closed();
      }
      opened = connection;
      this.#connection = connection;
      this.#failures = 0;
      this.#state.set({ status: "ready", epoch: this.state.epoch + 1 });
    } catch (error) {
      attempt.abort();
      this.#retry(connectFault(error));
    } finally {
      clearTimeout(timer);
    }
  }

  #lost(connection: Connection, error: Error): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    connection.destroy();
    this.#cutDrain?.();
    this.#retry(connectFault(error));
  }

  #retry(error: DriverFault): void {
    if (this.#closed) return;
    const { epoch } = this.state;
    // Armed before anyone hears of it: a listener may close the lane.
    this.#timer = setTimeout(() => void this.#connect(), backoffMs(this.#failures++));
    this.#state.set({ status: epoch === 0 ? "connecting" : "reconnecting", epoch, error });
  }
}

/** Waits until a lane is ready for the first time; closes it when that fails. */
export async function firstReady(
  lane: RedisDriver,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await untilReady(lane, timeoutMs, signal);
  } catch (error) {
    await lane.close("now");
    throw error;
  }
}

/**
 * Waits until a lane is ready, at most `timeoutMs`. What does not heal by waiting ends it at once: refused
 * credentials, a database or a host that is not there.
 */
export async function untilReady(
  lane: RedisDriver,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<void> {
  if (lane.state.status === "ready") return;
  if (signal?.aborted) throw closed();
  let timer: NodeJS.Timeout | undefined;
  let stop = (): void => {};
  let abort = (): void => {};
  try {
    await new Promise<void>((resolve, reject) => {
      stop = lane.onState(({ status, error }) => {
        if (status === "ready") resolve();
        else if (status === "closed") reject(closed());
        else if (error !== undefined && credentialsRefused(error)) reject(error);
        else if (error !== undefined && hostUnknown(error)) reject(offline(error));
      });
      timer = setTimeout(() => reject(unreachable(lane.state.error, timeoutMs)), timeoutMs);
      abort = () => reject(closed());
      signal?.addEventListener("abort", abort, { once: true });
    });
  } finally {
    clearTimeout(timer);
    stop();
    signal?.removeEventListener("abort", abort);
  }
}

/** True where the name of the server means nothing; a resolver that is away says something else. */
export function hostUnknown(error: Error): boolean {
  return /\bENOTFOUND\b/.test(error.message);
}

/** True for a refusal that waiting does not heal. */
export function credentialsRefused(error: Error): boolean {
  return REFUSED.test(error.message);
}

/** The fault of a first connection that did not come in time. */
export function unreachable(cause: Error | undefined, timeoutMs: number): DriverFault {
  const why = cause === undefined ? "no answer" : cause.message;
  return new DriverFault("offline", `no connection to Redis within ${timeoutMs} ms: ${why}`, cause);
}
