import { typedError } from "@echomq/scripts";
import { type EchoMQError, isEchoMQError, queueName } from "@echomq/wire";
import { closedError, LazySession } from "../connection/lazy.js";
import type { Session } from "../connection/session.js";
import { Emitter } from "../events/emitter.js";
import { markEnd, type RunEnd, stackOf } from "../job/job.js";
import { readPayload } from "../job/payload.js";
import type { JobMap, JobMapOf, JobName, ResultOf } from "../job/types.js";
import { record, refuse, whole } from "../options/check.js";
import { cancelJob } from "../queue/verbs/cancel.js";
import { rateLimit } from "../queue/verbs/limits.js";
import { ConsumerTelemetry } from "../telemetry/consumer.js";
import { WorkerClosingError } from "./errors.js";
import { Executor, type ExecutorHost } from "./executor.js";
import { jobOf, type Processor, type Work, workOf } from "./handler.js";
import { Manual, type ManualHost } from "./manual.js";
import { checkNextJob, handlerError } from "./next-job.js";
import {
  checkConcurrency,
  checkWorkerOptions,
  type WorkerOptions,
  type WorkerSettings,
} from "./options.js";
import { ended, type Settlement } from "./outcome.js";
import { assemble, keepParts, type Parts } from "./parts.js";
import type { Run } from "./run.js";
import { starting } from "./starting.js";
import type { AnyJob, AnyManualJob, CloseOptions, NextJobOptions, WorkerEvents } from "./types.js";
import { verdictError } from "./verdict.js";

/** How long the last call of a closing worker may take, in ms. */
const LAST_CALL_MS = 2_000;

/**
 * A worker: claims jobs of one queue and runs the handler for each, at least once. A run that lost its
 * lease writes nothing.
 */
export class Worker<M extends JobMapOf<M> = JobMap> extends Emitter<WorkerEvents<M>, M> {
  readonly name: string;
  /** What runs jobs knows no map: the worker gives its own jobs in and out. */
  readonly #work: Work<JobMap>;
  readonly #executor: Executor<JobMap>;
  readonly #settings: WorkerSettings;
  readonly #session: LazySession;
  readonly #closing = new AbortController();
  readonly #telemetry: ConsumerTelemetry | undefined;
  #parts: Parts | undefined;
  #running: Promise<void> | undefined;
  #closed: Promise<void> | undefined;
  #paused = false;

  /**
   * @param handler a function, the file URL or path of a module whose default export is one (it runs in
   * threads of its own), or null to fetch jobs with {@link getNextJob}.
   * @throws ValidationError `VALIDATION` naming the option.
   */
  constructor(name: string, handler: Processor<M>, options: WorkerOptions) {
    super();
    this.name = queueName(name);
    const shifted = options === undefined && typeof handler === "object" && handler !== null;
    if (shifted && !(handler instanceof URL)) {
      refuse("handler", "is missing: new Worker(name, handler, options)");
    }
    this.#settings = checkWorkerOptions(options, handler === null);
    this.#work = workOf<JobMap>(
      handler as Processor,
      this.#settings,
      () => new Manual(this.#manualHost()),
    );
    this.#executor = new Executor(this.#settings, this.#executorHost());
    this.#session = new LazySession(this.name, options, this.#settings);
    const { telemetry, name: own } = this.#settings;
    const report = (error: EchoMQError): void => this.report(error);
    this.#telemetry = telemetry && new ConsumerTelemetry(telemetry, this.name, own, report);
    if (this.#settings.autorun) void this.run().catch(() => undefined); // told by the error event
  }

  /** How many jobs run at once; may be set while the worker runs, and what runs then goes on. */
  get concurrency(): number {
    return this.#settings.concurrency;
  }

  /** @throws ValidationError `VALIDATION` naming `concurrency`. */
  set concurrency(value: number) {
    const count = checkConcurrency(value) ?? refuse("concurrency", "is required");
    if (!this.#settings.byHand) this.#settings.concurrency = count;
    this.#parts?.engine.wake();
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
    if (this.#closed !== undefined) return Promise.reject(closedError("Worker.run", this.name));
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

  /** True from the moment it is connected and claims until it is closed, paused or not. */
  isRunning(): boolean {
    return this.#parts !== undefined && this.#closed === undefined;
  }

  /** True while {@link pause} keeps this worker from claiming; a paused queue is another matter. */
  isPaused(): boolean {
    return this.#paused;
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
   * Says of a job that it must end, wherever it stands; see `Queue.cancel`.
   * @throws as `Queue.cancel`.
   */
  async cancelJob(id: string, reason?: string): Promise<void> {
    await cancelJob(this.#session, id, reason, "Worker.cancelJob");
    await this.#parts?.keeper.look();
  }

  /**
   * Lets no worker of the queue start a job for `ms`; what runs goes on. See `Queue.rateLimit`.
   * @throws as `Queue.rateLimit`.
   */
  rateLimit(ms: number): Promise<void> {
    return rateLimit(this.#session, ms, "Worker.rateLimit");
  }

  /**
   * Fetches one job by hand, for a worker without a handler; undefined when none came within `timeout`
   * ms. The lease is renewed until the job is moved, unless `renew` is false. A `token` replaces that
   * of the lease in `job.token`.
   * @throws ValidationError; `EchoMQError` `NO_MANUAL` for a worker with a handler, `CLOSED`; otherwise
   * as {@link run}.
   */
  async getNextJob(
    token?: string,
    options: NextJobOptions = {},
  ): Promise<AnyManualJob<M> | undefined> {
    const { manual } = this.#work;
    if (manual === undefined) throw handlerError(this.name);
    const next = checkNextJob(token, options);
    await this.run();
    if (next.look && this.#parts?.engine.claiming === false) return undefined;
    return (await manual.next(next)) as unknown as AnyManualJob<M> | undefined;
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
    const open = async (): Promise<Parts> => {
      const session = await this.#session.get("Worker.run");
      await session.fence.open(session.main, session.clock);
      const parts = await this.#assemble(session);
      signal.throwIfAborted();
      return parts;
    };
    try {
      this.#parts ??= await starting(this.name, open, signal, (error) => this.report(error));
    } catch (error) {
      // A worker that was refused must not keep its process alive; `run` connects again.
      if (!signal.aborted) await this.#session.drop();
      throw error;
    }
    keepParts(this, this.#parts);
    const { engine, keeper, sweeper, presence } = this.#parts;
    keeper.start();
    sweeper.start();
    presence.start();
    engine.claim(!this.#paused);
    this.tell("ready");
  }

  #assemble(session: Session): Promise<Parts> {
    return assemble(session, this.#settings, {
      execute: (run, done) => this.#executor.execute(run, done),
      settled: (settlement) => {
        this.#telemetry?.settled(settlement);
        this.#settled(settlement);
      },
      lost: (run, error) => {
        this.#telemetry?.lost(run, error);
        this.#work.manual?.over(run, error);
        this.#executor.release(run);
        this.tell("lost", this.#job(run), error);
      },
      doom: (run, verdict) => {
        const error = verdictError(run.id, verdict);
        this.#executor.stop(run, error, ended(run, error, this.#settings));
      },
      idle: () => this.#work.manual?.empty(),
      wanting: () => this.#work.manual?.wanting ?? true,
      stalled: (id) => {
        this.#telemetry?.stalled();
        this.tell("stalled", id);
      },
      drained: () => this.tell("drained"),
      trouble: (error) => this.#troubled(session, error),
      fatal: (error) => this.#fatal(error),
    });
  }

  protected override get quiet(): boolean {
    return this.#closing.signal.aborted;
  }

  #executorHost(): ExecutorHost<JobMap> {
    return {
      job: (run) => this.#job(run) as AnyJob,
      call: (job, run) =>
        this.#telemetry ? this.#telemetry.run(this.#work, job, run) : this.#work.call(job, run),
      active: (job) => this.tell("active", job as AnyJob<M>),
      now: async () => (await this.#session.get("work")).clock.now(),
      rateLimit: (ms) => this.rateLimit(ms),
      settle: (settlement) => this.#parts?.engine.settle(settlement),
      trouble: (error) => this.report(typedError(error, { op: "work", queue: this.name })),
    };
  }

  #manualHost(): ManualHost {
    return {
      queue: this.name,
      codec: this.#settings.codec,
      want: (count, asked) => {
        if (count === this.#settings.concurrency && !asked) return;
        this.#settings.concurrency = count;
        this.#parts?.engine.wake();
      },
      extend: async (run, ms) => this.#parts?.keeper.extend(run, ms),
    };
  }

  #settled({ run, how, result, value, stack, moved }: Settlement): void {
    if (this.#work.manual) this.#work.manual.over(run);
    if (how === "release" || moved) return;
    const event = how === "completed" ? "completed" : "failed";
    if (this.listenerCount(event) === 0) return;
    const attemptsMade = run.atm;
    const finishedOn = how === "completed" || how === "failed" ? this.#now() : undefined;
    // One literal for each: spreads cost more than the rest.
    const end: RunEnd =
      how === "completed"
        ? { attemptsMade, finishedOn, returnvalue: readPayload(null, this.#settings.codec, value) }
        : { attemptsMade, finishedOn, failedReason: value, stacktrace: stackOf(stack) };
    if (!markEnd(this.#job(run), end)) {
      // Its handler froze it, or the like: its listeners get it as it was read.
      run.job = undefined;
      markEnd(this.#job(run), end);
    }
    const job = this.#job(run);
    if (event === "completed") this.tell("completed", job, result as ResultOf<M, JobName<M>>);
    else this.tell("failed", job, result, how !== "failed");
  }

  #now(): number {
    return this.#parts?.session.clock.read() ?? 0;
  }

  #job(run: Run): AnyJob<M> {
    run.job ??= jobOf<JobMap>(run, this.#session, this.name, this.#work.manual);
    return run.job as AnyJob<M>;
  }

  /** Whoever of the worker's parts meets the fence first: the boot fence says what has come. */
  #troubled(session: Session, error: unknown): void {
    const typed = typedError(error, { op: "work", queue: this.name });
    if (!isEchoMQError(typed, "EMQFENCE") || this.#closing.signal.aborted) {
      this.report(typed);
      return;
    }
    session.fence.forget(session.main);
    session.fence.check(session.main).catch((refusal: unknown) => {
      const found = typedError(refusal, { op: "fence", queue: this.name });
      if (found.name === "FenceError") this.#fatal(found);
      else this.report(found);
    });
  }

  /** The keyspace is not ours any more: nothing more is written, the jobs stay whole where they are. */
  #fatal(error: EchoMQError): void {
    this.report(error);
    for (const run of this.#parts?.engine.owned ?? []) run.abort(error);
    this.#parts?.engine.abandon();
    void this.close({ timeout: 0 });
  }

  async #close(ms: number): Promise<void> {
    this.#closing.abort(new WorkerClosingError(this.name));
    this.#work.manual?.close();
    let answers = false;
    if (this.#parts) {
      const { engine, keeper, sweeper, waker, wakeups, presence } = this.#parts;
      engine.claim(false);
      sweeper.stop();
      wakeups.stop();
      await waker.close();
      await engine.quiet(ms);
      for (const run of engine.owned) run.abort(this.#closing.signal.reason);
      answers = await engine.giveBack(LAST_CALL_MS);
      keeper.stop();
      await presence.stop(answers);
    }
    this.#telemetry?.close();
    await this.#work.close();
    await this.#session.close(answers ? "drain" : "now");
    this.tell("closed");
  }
}
