import type { LazySession } from "../connection/lazy.js";
import { Job } from "../job/job.js";
import type { JobMap, JobMapOf } from "../job/types.js";
import { refuse, shown } from "../options/check.js";
import type { Manual } from "./manual.js";
import { ManualJob } from "./manual-job.js";
import type { WorkerSettings } from "./options.js";
import type { Run } from "./run.js";
import { handlerFile, SandboxPool } from "./sandbox/pool.js";
import type { AnyJob, Handler, JobContext } from "./types.js";

/** A handler as a worker takes it: a function, a file with one, or null to fetch jobs by hand. */
export type Processor<M extends JobMapOf<M> = JobMap> = Handler<M> | URL | string | null;

/** How the jobs of a worker are run. */
export interface Work<M extends JobMapOf<M>> {
  /** Set where jobs are fetched by hand. */
  readonly manual: Manual<AnyJob<M>> | undefined;
  call(job: AnyJob<M>, run: Run): unknown;
  /** Ends what runs. Never rejects. */
  close(): Promise<void>;
}

/**
 * How the jobs of a processor are run.
 * @throws ValidationError `VALIDATION` naming `handler`.
 */
export function workOf<M extends JobMapOf<M>>(
  processor: Processor<M>,
  settings: WorkerSettings,
  manual: () => Manual<AnyJob<M>>,
): Work<M> {
  if (typeof processor === "function") {
    const call = (job: AnyJob<M>, run: Run): unknown => processor(job, new Context(run));
    return { manual: undefined, call, close: async () => undefined };
  }
  if (processor === null) {
    const hand = manual();
    const call = (job: AnyJob<M>, run: Run): unknown => hand.handle(run, job);
    return { manual: hand, call, close: async () => hand.drop() };
  }
  if (typeof processor !== "string" && !((processor as unknown) instanceof URL)) {
    return refuse("handler", `must be a function, a file or null, got ${shown(processor)}`);
  }
  const pool = new SandboxPool(handlerFile(processor), settings.resourceLimits);
  return {
    manual: undefined,
    call: (job, run) => pool.run(job, new Context(run)),
    close: () => pool.close(),
  };
}

/** What a handler gets beside its job. The signal is made when it is looked at. */
class Context implements JobContext {
  /** One for all: V8 makes a hidden class for each accessor, which outlives what the accessor holds. */
  static readonly #SIGNAL: PropertyDescriptor & ThisType<Context> = {
    enumerable: true,
    configurable: true,
    get() {
      return this.#run.signal;
    },
  };

  readonly #run: Run;
  declare readonly signal: AbortSignal;
  readonly token: string;
  readonly lease: Lease;

  constructor(run: Run) {
    this.#run = run;
    this.token = run.token;
    this.lease = new Lease(run);
    // Of its own, so that a copy has it too.
    Object.defineProperty(this, "signal", Context.#SIGNAL);
  }
}

/** How long the lease of a run goes on. */
class Lease {
  readonly #run: Run;

  constructor(run: Run) {
    this.#run = run;
  }

  get remaining(): number {
    return Math.max(Math.round(this.#run.leaseEnds - performance.now()), 0);
  }
}

/** The job of a run, as its handler or its caller has it. */
export function jobOf<M extends JobMapOf<M>>(
  run: Run,
  session: LazySession,
  queue: string,
  manual: Manual<AnyJob<M>> | undefined,
): AnyJob<M> {
  const { id, token, fields, claimedAt, ats: started } = run;
  const control = manual?.control(run);
  const job = control
    ? new ManualJob(
        { id, queue, fields, token, claimedAt, started, run: control },
        session,
        control,
      )
    : new Job({ id, queue, fields, token, claimedAt, started, run }, session);
  return job as unknown as AnyJob<M>;
}
