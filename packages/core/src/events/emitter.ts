import { EventEmitter } from "node:events";
import { EchoMQError } from "@echomq/wire";
import type { Kinds } from "../job/kinds.js";
import { reasonOf } from "../worker/failure.js";

/** Events by name, each with what its listeners are given. */
type Events<E> = { readonly [N in keyof E]: unknown[] };

/** What it returns is not looked at, except a promise that rejects: that is told as an error. */
type Listener<A extends unknown[]> = (...args: A) => unknown;

/**
 * An `EventEmitter` that knows its events. The names are written as templates, which the compiler spells
 * out: a wrong name is told with the right ones.
 */
export interface TypedEmitter<E extends Events<E>> extends EventEmitter {
  on<N extends keyof E & `${keyof E & string}`>(event: N, listener: Listener<E[N]>): this;
  once<N extends keyof E & `${keyof E & string}`>(event: N, listener: Listener<E[N]>): this;
  off<N extends keyof E & `${keyof E & string}`>(event: N, listener: Listener<E[N]>): this;
  addListener<N extends keyof E & `${keyof E & string}`>(event: N, listener: Listener<E[N]>): this;
  removeListener<N extends keyof E & `${keyof E & string}`>(
    event: N,
    listener: Listener<E[N]>,
  ): this;
  prependListener<N extends keyof E & `${keyof E & string}`>(
    event: N,
    listener: Listener<E[N]>,
  ): this;
  prependOnceListener<N extends keyof E & `${keyof E & string}`>(
    event: N,
    listener: Listener<E[N]>,
  ): this;
  removeAllListeners(event?: `${keyof E & string}`): this;
  listenerCount(event: `${keyof E & string}`, listener?: Listener<never>): number;
  emit<N extends keyof E & `${keyof E & string}`>(event: N, ...args: E[N]): boolean;
}

const Base: new <E extends Events<E>, M>(options: {
  captureRejections: boolean;
}) => TypedEmitter<E> & Kinds<M> = EventEmitter as never;

/** Emits events so that no listener, and no missing one, takes down what emits them. */
export abstract class Emitter<E extends Events<E> & { error: [EchoMQError] }, M> extends Base<
  E,
  M
> {
  constructor() {
    // An async listener that rejects is told as an error, not left to end the process.
    super({ captureRejections: true });
    Object.defineProperty(this, EventEmitter.captureRejectionSymbol, {
      value: (thrown: unknown, event: string | symbol) => this.#rejected(event, thrown),
    });
  }

  /** Name of the queue. */
  abstract readonly name: string;

  /** True once errors are not told any more. */
  protected abstract get quiet(): boolean;

  /** Emits; a listener that throws must not stop what follows. */
  protected tell<N extends keyof E & `${keyof E & string}`>(event: N, ...args: E[N]): void {
    try {
      this.emit(event, ...args);
    } catch (thrown) {
      this.report(this.#threw(event, thrown));
    }
  }

  protected report(error: EchoMQError): void {
    if (this.quiet) return;
    // Without a listener Node would throw: a lost connection must not end the process.
    if ((this as EventEmitter).listenerCount("error") === 0) {
      warn(error);
      return;
    }
    try {
      (this as EventEmitter).emit("error", error);
    } catch (thrown) {
      warn(this.#threw("error", thrown));
    }
  }

  #rejected(event: string | symbol, thrown: unknown): void {
    const error = this.#threw(String(event), thrown);
    if (event === "error") warn(error);
    else this.report(error);
  }

  #threw(event: string, thrown: unknown): EchoMQError {
    const message = `it threw: ${reasonOf(thrown)}`;
    const op = `${event} listener`;
    return new EchoMQError({ code: "LISTENER", message, op, queue: this.name, cause: thrown });
  }
}

/** Prints an error as a warning, once: Node prints the `detail` of one that has it again. */
export function warn(error: EchoMQError): void {
  const { name, message, code, stack } = error;
  const warning = new Error(message, { cause: error });
  process.emitWarning(Object.assign(warning, { name, code, stack }));
}
