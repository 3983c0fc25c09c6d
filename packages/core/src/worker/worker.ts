import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { typedError } from "@echomq/scripts";
import { EchoMQError, isEchoMQError, queueName } from "@echomq/wire";
import { closedError, LazySession } from "../connection/lazy.js";
import type { Session } from "../connection/session.js";
import { Job } from "../job/job.js";
import type { JobMap } from "../job/types.js";
import { record, refuse, shown, whole } from "../options/check.js";
import { WorkerClosingError } from "./errors.js";
import { reasonOf } from "./failure.js";
import { checkWorkerOptions, type WorkerOptions, type WorkerSettings } from "./options.js";
import { failed, type Settlement, succeeded } from "./outcome.js";
import { assemble, type Parts } from "./parts.js";
import type { Run } from "./run.js";
import type { AnyJob, Handler, WorkerEvents } from "./types.js";

/** How a worker closes. */
export interface CloseOptions {
  /** How long running jobs may take to end, in ms; then they go back to the queue. Default 30 000. */
  readonly timeout?: number;
}

/** How long the last call of a closing worker may take, in ms. */
const LAST_CALL_MS = 2_000;

/**
 * A worker: claims jobs of one queue and runs the handler for each, at least once. A run that lost its
 * lease writes nothing.
 */
export class Worker<M extends JobMap = JobMap> extends EventEmitter<WorkerEvents<M>> {
  readonly name: string;
  readonly #handler: Handler<M>;
  readonly #settings: WorkerSettings;
  readonly #session: LazySession;
  readonly #closing = new AbortController();
  #parts: Parts | undefined;
  #running: Promise<void> | undefined;
  #closed: Promise<void> | undefined;
  #paused = false;

  /** @throws ValidationError `VALIDATION` naming the option. */
  constructor(name: string, handler: Handler<M>, options: WorkerOptions) {
    // An async listener that rejects is told as an error, not left to end the process.
    super({ captureRejections: true });
    Object.defineProperty(this, EventEmitter.captureRejectionSymbol, {
      value: (thrown: unknown, event: string | symbol) => this.#rejected(event, thrown),
    });
    this.name = queueName(name);
    if (typeof handler !== "function")
      refuse("handler", `must be a function, got ${shown(handler)}`);
    this.#handler = handler;
    this.#settings = checkWorkerOptions(options);
    this.#session = new LazySession(this.name, options);
    if (this.#settings.autorun) void this.run().catch(() => undefined); // told by the error event
  }

  /** Jobs this worker holds now. */
  get active(): number {
    return this.#parts?.engine.owned.size ?? 0;
  }

  /**
   * Starts to work; resolves once connected and claiming. Trouble on the way is retried. After a refusal
   * it may be called again.
   * @throws FenceError when the keyspace is not ours, `EchoMQError` `CLOSED` when closed meanwhile.
   */
  run(): Promise<void> {
    this.#running ??= this.#start().catch((error: unknown) => {
      this.#running = undefined;
      throw error;
    });
    return this.#running;
  }

  /** As {@link run}. */
  waitUntilReady(): Promise<void> {
    return this.run();
  }

  /** Stops this worker from claiming more; what runs goes on. */
  pause(): void {
    this.#paused = true;
    this.#parts?.engine.claim(false);
  }

  /** Lets this worker claim again. */
  resume(): void {
    this.#paused = false;
    if (!this.#closed) this.#parts?.engine.claim(true);
  }

  /**
   * Stops claiming, lets running jobs end, gives back those that take longer, and ends the connection.
   * Settles in every state of the connection; never rejects for it.
   * @throws ValidationError for a bad timeout.
   */
  close(options: CloseOptions = {}): Promise<void> {
    const { timeout } = record("options", options, ["timeout"]);
    const ms = whole("options.timeout", timeout, 0, 86_400_000) ?? 30_000;
    this.#closed ??= this.#close(ms);
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #start(): Promise<void> {
    const { signal } = this.#closing;
    for (let attempt = 1; this.#parts === undefined; attempt += 1) {
      try {
        if (signal.aborted) throw closedError("Worker.run");
        const session = await this.#session.get("Worker.run");
        await session.fence.open(session.main, session.clock);
        const parts = await this.#assemble(session);
        if (!signal.aborted) this.#parts = parts;
      } catch (error) {
        const typed = typedError(error, "Worker.run");
        if (signal.aborted) throw closedError("Worker.run");
        this.#report(typed);
        if (!typed.transient) throw typed;
        await sleep(Math.min(100 * 2 ** attempt, 2_000), undefined, { signal }).catch(
          () => undefined,
        );
      }
    }
    const { engine, keeper, sweeper, presence } = this.#parts;
    keeper.start();
    sweeper.start();
    presence.start();
    engine.claim(!this.#paused);
    this.#tell("ready");
  }

  #assemble(session: Session): Promise<Parts> {
    return assemble(session, this.#settings, {
      execute: (run) => this.#execute(run),
      settled: (settlement) => this.#settled(settlement),
      lost: (run, error) => this.#tell("lost", this.#job(run), error),
      stalled: (id) => this.#tell("stalled", id),
      drained: () => this.#tell("drained"),
      trouble: (error) => this.#troubled(session, error),
      fatal: (error) => this.#fatal(error),
    });
  }

  async #execute(run: Run): Promise<Settlement | null> {
    const job = this.#job(run);
    this.#tell("active", job);
    try {
      const result = await this.#handler(job, {
        signal: run.controller.signal,
        token: run.token,
        lease: {
          get remaining(): number {
            return Math.max(Math.round(run.leaseEnds - performance.now()), 0);
          },
        },
      });
      return run.lost ? null : succeeded(run, result, this.#settings);
    } catch (error) {
      return run.lost ? null : failed(run, error, this.#settings);
    }
  }

  #settled({ run, how, result, value }: Settlement): void {
    if (how === "release") return;
    const event = how === "completed" ? "completed" : "failed";
    if (this.listenerCount(event) === 0) return;
    const ended = how === "completed" ? { returnvalue: value } : { failedReason: value };
    const fields = { ...run.fields, atm: String(run.atm), ats: String(run.ats), ...ended };
    const job = this.#job(run, fields);
    if (event === "completed") this.#tell("completed", job, result);
    else this.#tell("failed", job, result, how !== "failed");
  }

  #job(run: Run, fields: Run["fields"] = run.fields): AnyJob<M> {
    const job = new Job({ id: run.id, queue: this.name, fields }, this.#session);
    return job as unknown as AnyJob<M>;
  }

  #rejected(event: string | symbol, thrown: unknown): void {
    const error = listenerError(event, thrown);
    if (event === "error") process.emitWarning(error);
    else this.#report(error);
  }

  /** Emits; a listener that throws must not take the worker down. */
  #tell<E extends keyof WorkerEvents<M>>(event: E, ...args: WorkerEvents<M>[E]): void {
    try {
      (this.emit as (event: E, ...args: WorkerEvents<M>[E]) => boolean).call(this, event, ...args);
    } catch (thrown) {
      this.#report(listenerError(event, thrown));
    }
  }

  #report(error: EchoMQError): void {
    if (this.#closing.signal.aborted) return;
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

  /** Whoever of the worker's parts meets the fence first: the boot fence says what has come. */
  #troubled(session: Session, error: unknown): void {
    const typed = typedError(error, "work");
    if (!isEchoMQError(typed, "EMQFENCE") || this.#closing.signal.aborted) {
      this.#report(typed);
      return;
    }
    session.fence.forget(session.main);
    session.fence.check(session.main).catch((refusal: unknown) => {
      const found = typedError(refusal, "fence");
      if (found.name === "FenceError") this.#fatal(found);
      else this.#report(found);
    });
  }

  /** The keyspace is not ours any more: nothing more is written, the jobs stay whole where they are. */
  #fatal(error: Error): void {
    this.#report(error as EchoMQError);
    for (const run of this.#parts?.engine.owned ?? []) run.controller.abort(error);
    this.#parts?.engine.abandon();
    void this.close({ timeout: 0 });
  }

  async #close(ms: number): Promise<void> {
    this.#closing.abort(new WorkerClosingError());
    let answers = false;
    if (this.#parts) {
      const { engine, keeper, sweeper, waker, wakeups, presence } = this.#parts;
      engine.claim(false);
      sweeper.stop();
      wakeups.stop();
      await waker.close();
      await engine.quiet(ms);
      for (const run of engine.owned) run.controller.abort(this.#closing.signal.reason);
      answers = await engine.giveBack(LAST_CALL_MS);
      keeper.stop();
      await presence.stop(answers);
    }
    await this.#session.close(answers ? "drain" : "now");
    this.#tell("closed");
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
