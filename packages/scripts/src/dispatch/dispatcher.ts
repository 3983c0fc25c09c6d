import { type EchoMQError, type ErrorContext, ServerError } from "@echomq/wire";
import type {
  Command,
  DriverState,
  LaneRole,
  RedisDriver,
  Reply,
  Route,
  Settled,
} from "../driver/types.js";
import { isDriverFault } from "../driver/types.js";
import { type AnyCall, decodeReply, type EncodedCall, encodeCall } from "../registry/codec.js";
import type { CallOf, ReplyOf, Script, ScriptSpec } from "../registry/spec.js";
import { certainlyNotRun, typedError } from "./errors.js";
import { LaneHolder } from "./lane.js";
import { atMost, pauseFor, retryDelay } from "./retry.js";
import { Watchdog } from "./watchdog.js";

/** How a dispatcher waits. All in ms. */
export interface DispatcherOptions {
  /** The queue the lane works for, for errors to name. */
  readonly queue?: string | undefined;
  /** How long one command may take before its connection is given up. Default 5 000. */
  readonly timeoutMs?: number | undefined;
  /** How long a call is tried again after transient trouble. Default 10 000; 0 never. */
  readonly retryMs?: number | undefined;
  /** Told before and after each script, for telemetry and fault tests. */
  readonly hook?: ((phase: "before" | "after", script: string) => void | Promise<void>) | undefined;
}

/** What one call may set for itself. */
export interface CallOptions {
  /** Named in errors, e.g. `Queue.add`. Default: the script's name. */
  readonly op?: string | undefined;
  /** The queue errors name, where it is another than the lane's. */
  readonly queue?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly retryMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told before a call is sent again that may have run already: what it answers then may be its own doing. */
  readonly resent?: (() => void) | undefined;
}

/** One script and its call, for {@link Dispatcher.run}. */
export interface ScriptCall<S extends ScriptSpec> {
  readonly script: Script<S>;
  readonly call: CallOf<S>;
}

/** One call, whatever it sends. */
interface Call<R, T> {
  readonly op: string;
  readonly repeatable: boolean;
  readonly options: CallOptions;
  readonly send: () => Promise<R>;
  /** Sent in its place where the server does not know the script. */
  readonly unknown?: () => Promise<R>;
  readonly read: (reply: R) => T;
}

interface Failed {
  readonly ok: false;
  readonly error: unknown;
}

/**
 * Runs scripts over one lane: `EVALSHA` first, `EVAL` when the server does not know the script, so at
 * most two commands; errors typed; transient trouble retried; a silent connection replaced.
 */
export class Dispatcher {
  readonly #lane: LaneHolder;
  readonly #watchdog = new Watchdog();
  readonly #timeoutMs: number;
  readonly #retryMs: number;
  readonly #hook: DispatcherOptions["hook"];
  readonly #queue: string | undefined;

  private constructor(lane: LaneHolder, options: DispatcherOptions) {
    this.#lane = lane;
    this.#timeoutMs = options.timeoutMs ?? 5_000;
    this.#retryMs = options.retryMs ?? 10_000;
    this.#hook = options.hook;
    this.#queue = options.queue;
  }

  /** Opens a lane of its own beside `root`; an aborted `signal` gives the attempt up. */
  static async open(
    root: RedisDriver,
    role: LaneRole,
    options: DispatcherOptions = {},
    signal?: AbortSignal,
  ): Promise<Dispatcher> {
    try {
      return new Dispatcher(await LaneHolder.open(root, role, signal), options);
    } catch (error) {
      throw typedError(error, { op: "connect", queue: options.queue });
    }
  }

  /** Uses `root` itself as the lane. It stays open when the dispatcher closes. */
  static over(root: RedisDriver, options: DispatcherOptions = {}): Dispatcher {
    return new Dispatcher(LaneHolder.over(root), options);
  }

  /** Counts the lane's connections: what was in flight when it changed has an unknown outcome. */
  get epoch(): number {
    return this.#lane.epoch;
  }

  get ready(): boolean {
    return this.#lane.ready;
  }

  get cluster(): boolean {
    return this.#lane.driver.info.cluster;
  }

  onState(listener: (state: DriverState) => void): () => void {
    return this.#lane.onState(listener);
  }

  /**
   * Runs one script.
   * @throws WireError when the script refuses, `ServerError` for the server's or the connection's own
   * trouble, `ValidationError` when an argument cannot go on the wire.
   */
  run<S extends ScriptSpec>(
    script: Script<S>,
    call: CallOf<S>,
    options: CallOptions = {},
  ): Promise<ReplyOf<S>> {
    const reply: Promise<unknown> = this.#run(script, call as unknown as AnyCall, options);
    return reply as Promise<ReplyOf<S>>;
  }

  /**
   * Sends one plain command. It is sent again after transient trouble only when `repeatable`.
   * @throws ServerError as {@link run}.
   */
  async command(
    command: Command,
    route: Route = {},
    options: CallOptions & { readonly repeatable?: boolean | undefined } = {},
  ): Promise<Reply> {
    const op = options.op ?? String(command[0]);
    return this.#sent({
      op,
      repeatable: options.repeatable ?? false,
      options,
      send: () => this.#lane.driver.command(command, route),
      read: (reply) => reply,
    });
  }

  /**
   * Sends read commands in one round trip, each with its own outcome; on a cluster one round trip per
   * node. All are sent again after transient trouble of any.
   * @throws ServerError when the trouble lasts.
   */
  async readEach(
    commands: readonly Command[],
    options: CallOptions = {},
    route: Route = {},
  ): Promise<readonly Settled<Reply>[]> {
    const op = options.op ?? "read";
    const send = async (): Promise<readonly Settled<Reply>[]> => {
      const settled = await this.#lane.driver.pipeline(commands, route);
      for (const one of settled)
        if (!one.ok && typedError(one.error, op).transient) throw one.error;
      return settled;
    };
    return this.#sent({ op, repeatable: true, options, send, read: (settled) => settled });
  }

  /**
   * Sends read commands in one round trip.
   * @throws ServerError for the first that failed.
   */
  async readMany(
    commands: readonly Command[],
    route: Route = {},
    options: CallOptions = {},
  ): Promise<readonly Reply[]> {
    const settled = await this.readEach(commands, options, route);
    return settled.map((one) => {
      if (one.ok) return one.value;
      throw typedError(one.error, this.#about(options.op ?? "read", options));
    });
  }

  /** Throws the connection away and opens another. */
  replaceConnection(): Promise<void> {
    return this.#lane.replace();
  }

  /** Ends the lane. Calls in flight end too; never rejects. */
  async close(mode: "drain" | "now" = "drain"): Promise<void> {
    await this.#lane.close(mode);
    this.#watchdog.rest();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #run(script: Script, given: AnyCall, options: CallOptions): Promise<unknown> {
    let encoded: EncodedCall;
    try {
      encoded = encodeCall(script.spec, given);
    } catch (error) {
      return Promise.reject(error);
    }
    const { keys, argv } = encoded;
    const command = ["EVALSHA", script.sha, String(keys.length)].concat(keys, argv);
    const route: Route = keys[0] === undefined ? {} : { key: keys[0] };
    const { name, repeatable, reply } = script.spec;
    const call: Call<Reply, unknown> = {
      op: options.op ?? name,
      repeatable,
      options,
      send: () => this.#lane.driver.command(command, route),
      unknown: () => this.#lane.driver.command(["EVAL", script.source, ...command.slice(2)], route),
      read: (value) => decodeReply(reply, value),
    };
    return this.#hook ? this.#hooked(this.#hook, name, call) : this.#sent(call);
  }

  async #hooked<T>(
    hook: NonNullable<DispatcherOptions["hook"]>,
    name: string,
    call: Call<Reply, T>,
  ): Promise<T> {
    await hook("before", name);
    const reply = await this.#sent(call);
    await hook("after", name);
    return reply;
  }

  /**
   * Sends a call and reads its reply. One promise while all is well: each more costs a turn of the
   * microtasks with every call.
   */
  #sent<R, T>(call: Call<R, T>): Promise<T> {
    const started = performance.now();
    return this.#guard(call, call.send, started, call.read, (error) =>
      this.#again(call, started, error),
    );
  }

  async #again<R, T>(call: Call<R, T>, started: number, first: unknown): Promise<T> {
    const { op, options, repeatable } = call;
    const until = started + (options.retryMs ?? this.#retryMs);
    let outcome: Settled<R> | Failed = { ok: false, error: first };
    let sent = started;
    for (let attempt = 1; ; attempt += 1) {
      if (!outcome.ok && call.unknown && isUnknownScript(outcome.error)) {
        outcome = await this.#tried(call, call.unknown, sent);
      }
      if (outcome.ok) return call.read(outcome.value);
      const { error } = outcome;
      const typed = typedError(error, this.#about(op, options));
      // Also where this call gives up: the next one must not find a lane nobody opens again.
      const healed = this.#heal(typed);
      const again = typed.transient && (repeatable || certainlyNotRun(error));
      const wait = retryDelay(attempt);
      const left = until - performance.now() - wait;
      if (!again || left < 0 || this.#gaveUp(options.signal)) throw typed;
      await pauseFor(wait, options.signal);
      await atMost(healed, left, options.signal);
      if (this.#gaveUp(options.signal)) throw typed;
      if (!certainlyNotRun(error)) options.resent?.();
      sent = performance.now();
      outcome = await this.#tried(call, call.send, sent);
    }
  }

  /** One attempt, begun at `sent`, in monotonic ms: both commands of one share its deadline. */
  #tried<R, T>(
    call: Call<R, T>,
    send: () => Promise<R>,
    sent: number,
  ): Promise<Settled<R> | Failed> {
    const succeed = (value: R): Settled<R> => ({ ok: true, value });
    const fail = async (error: unknown): Promise<Failed> => ({ ok: false, error });
    return this.#guard<R, Settled<R> | Failed>(call, send, sent, succeed, fail);
  }

  /** One attempt, with its deadline. */
  #guard<R, T>(
    { op, options }: Call<R, unknown>,
    send: () => Promise<R>,
    now: number,
    read: (reply: R) => T,
    failed: (error: unknown) => Promise<T>,
  ): Promise<T> {
    const ms = options.timeoutMs ?? this.#timeoutMs;
    const late = (): ServerError => {
      // A reply that never came leaves the connection in doubt for everything after it.
      void this.#lane.replace();
      return lateError(ms, this.#about(op, options));
    };
    return this.#watchdog.guard(send, now + ms, { read, failed, late });
  }

  #about(op: string, { queue = this.#queue }: CallOptions): ErrorContext {
    return { op, queue };
  }

  #gaveUp(signal: AbortSignal | undefined): boolean {
    return this.#lane.closed || signal?.aborted === true;
  }

  async #heal(error: EchoMQError): Promise<void> {
    // READONLY means this connection leads to a replica: only a new one finds the new primary.
    const closed = this.#lane.driver.state.status === "closed";
    if (error.code === "READONLY" || closed) await this.#lane.replace();
  }
}

function isUnknownScript(error: unknown): boolean {
  return isDriverFault(error, "reply") && error.message.startsWith("NOSCRIPT ");
}

function lateError(ms: number, about: ErrorContext): ServerError {
  const detail = `no reply to ${about.op} within ${ms} ms`;
  return new ServerError({ ...about, code: "TIMEOUT", detail });
}
