import { EventEmitter } from "node:events";
import { EchoMQError } from "@echomq/wire";
import type { JobMap } from "../job/types.js";
import { reasonOf } from "./failure.js";
import type { WorkerEvents } from "./types.js";

/** Emits a worker's events so that no listener, and no missing one, takes the worker down. */
export abstract class WorkerEmitter<M extends JobMap> extends EventEmitter<WorkerEvents<M>> {
  constructor() {
    // An async listener that rejects is told as an error, not left to end the process.
    super({ captureRejections: true });
    Object.defineProperty(this, EventEmitter.captureRejectionSymbol, {
      value: (thrown: unknown, event: string | symbol) => this.#rejected(event, thrown),
    });
  }

  /** True once errors are not told any more. */
  protected abstract get quiet(): boolean;

  /** Emits; a listener that throws must not take the worker down. */
  protected tell<E extends keyof WorkerEvents<M>>(event: E, ...args: WorkerEvents<M>[E]): void {
    try {
      (this.emit as (event: E, ...args: WorkerEvents<M>[E]) => boolean).call(this, event, ...args);
    } catch (thrown) {
      this.report(listenerError(event, thrown));
    }
  }

  protected report(error: EchoMQError): void {
    if (this.quiet) return;
    // Without a listener Node would throw: a lost connection must not end the process.
    if (this.listenerCount("error") === 0) {
      process.emitWarning(error);
      return;
    }
    try {
      this.emit("error", error);
    } catch (thrown) {
      process.emitWarning(listenerError("error", thrown));
    }
  }

  #rejected(event: string | symbol, thrown: unknown): void {
    const error = listenerError(event, thrown);
    if (event === "error") process.emitWarning(error);
    else this.report(error);
  }
}

function listenerError(event: string | symbol, thrown: unknown): EchoMQError {
  return new EchoMQError({
    code: "LISTENER",
    message: `a listener of ${String(event)} threw: ${reasonOf(thrown)}`,
    op: `${String(event)} listener`,
    cause: thrown,
  });
}
