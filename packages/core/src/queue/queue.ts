import { countsScript, pauseScript } from "@echomq/scripts";
import { jobId, queueName } from "@echomq/wire";
import { closedError, LazySession } from "../connection/lazy.js";
import { within } from "../connection/within.js";
import { warn } from "../events/emitter.js";
import { addAndWait, type WaitOptions } from "../events/wait.js";
import { JobIds } from "../ids/node-lease.js";
import { Job } from "../job/job.js";
import { readJobs } from "../job/read.js";
import type { DataOf, JobCounts, JobMap, JobMapOf, JobName, ResultOf } from "../job/types.js";
import { nameText, record, refuse, shown } from "../options/check.js";
import { checkJobOptions, type JobOptions } from "../options/job-options.js";
import { inside, isPromise, validate } from "../options/schema.js";
import { ProducerTelemetry } from "../telemetry/producer.js";
import type { AnyJob } from "../worker/types.js";
import { type Added, Adder, type NewJob } from "./adder.js";
import { InFlight } from "./in-flight.js";
import { QueueLimits } from "./limits.js";
import {
  checkQueueOptions,
  keepOptions,
  type QueueOptions,
  type QueueSettings,
} from "./options.js";
import { NONE } from "./verbs/counts.js";
import { getDeduplicationJobId, removeDeduplicationKey } from "./verbs/deduplication.js";
import { setMaxLength } from "./verbs/max-length.js";

/** How long a closing queue waits for adds on their way, in ms: a call's time and its retrying. */
const ADDS_MS = 15_000;

/** One job of `addBulk`: a name of the map, or of `N`, and the data of that kind. */
export type BulkJob<M extends JobMapOf<M> = JobMap, N extends JobName<M> = JobName<M>> = {
  [K in N]: {
    readonly name: K;
    readonly data: DataOf<M, K>;
    readonly opts?: JobOptions | undefined;
  };
}[N];

/** What `addBulk` resolves to: a job for each that was given, in their order. */
export type AddedJobs<M extends JobMapOf<M>, J extends readonly BulkJob<M>[]> = {
  -readonly [I in keyof J]: AnyJob<M, J[I]["name"]>;
};

/**
 * A queue: adds jobs and looks at them. It connects with the first call and creates nothing before the
 * first write.
 */
export class Queue<M extends JobMapOf<M> = JobMap> extends QueueLimits<M> {
  readonly name: string;
  readonly #session: LazySession;
  readonly #settings: QueueSettings;
  readonly #ids = new JobIds();
  readonly #adder = new Adder(this.#ids);
  readonly #writes = new InFlight();
  readonly #telemetry: ProducerTelemetry | undefined;
  #closing: Promise<void> | undefined;

  /**
   * @param name 1 to 128 bytes without `{`, `}`, `:` and control characters; braces around all of it are taken off.
   * @throws ValidationError `VALIDATION` naming the option.
   */
  constructor(name: string, options: QueueOptions) {
    const checked = queueName(name);
    const settings = checkQueueOptions(options);
    const session = new LazySession(checked, options, settings);
    super(session);
    this.name = checked;
    keepOptions(this, checked, options);
    this.#settings = settings;
    this.#session = session;
    const { telemetry } = settings;
    // A queue has no events.
    this.#telemetry = telemetry && new ProducerTelemetry(telemetry, checked, warn);
  }

  /**
   * Connects and asks the fence, without writing.
   * @throws FenceError when the keyspace is not ours, `ServerError` when Redis cannot be reached.
   */
  async waitUntilReady(): Promise<void> {
    const session = await this.#session.get("Queue.waitUntilReady");
    await session.fence.check(session.main);
  }

  /**
   * Adds one job. Adds of one tick share a round trip. With a `jobId` that stands already, or a
   * deduplication id that another job stands for, that job is returned.
   * @throws ValidationError before anything is sent; `FenceError`; `WireError` `EMQFULL` when the queue
   * holds its limit, `EMQSTATE` while it is being obliterated, `EMQRETRY` when the holders of its
   * deduplication ids change all the time; `ServerError` such as `OOM` or `CONNECTION_LOST`.
   */
  async add<N extends JobName<M>>(
    name: N,
    data: DataOf<M, N>,
    opts?: JobOptions,
  ): Promise<AnyJob<M, N>> {
    const checked = this.#checked(name, data, opts);
    this.#refuseClosed("Queue.add");
    this.#writes.begin();
    try {
      // Awaited only where it must be: a turn more for each add would split batches.
      const job = isPromise(checked) ? await checked : checked;
      const added = await (this.#telemetry === undefined
        ? this.#adder.add(this.#session.current ?? (await this.#session.get("Queue.add")), job)
        : this.#telemetry.add(job, (one) => this.#add(one)));
      return (
        added.duplicate ? await this.#standing(job, added) : this.#made(job, added)
      ) as AnyJob<M, N>;
    } finally {
      this.#writes.end();
    }
  }

  /**
   * Adds jobs in order. Up to 500 are one atomic step, of which a length limit refuses all or none; more go
   * in steps of 125. When one fails, those before it stay, the one on its way beside it may be added, and no
   * other. All jobs are checked before the first is sent.
   * @throws as {@link add}.
   */
  async addBulk<const J extends readonly BulkJob<M>[]>(jobs: J): Promise<AddedJobs<M, J>> {
    if (!Array.isArray(jobs)) return refuse("jobs", `must be a list, got ${shown(jobs)}`);
    const checking = Array.from(jobs, (job, at) => {
      const place = `jobs[${at}]`;
      const refused = (error: unknown): never => {
        throw inside(place, error);
      };
      const { name, data, opts } = record(place, job, ["name", "data", "opts"]);
      try {
        const one = this.#checked(name, data, opts as JobOptions | undefined);
        return isPromise(one) ? quiet(one.catch(refused)) : one;
      } catch (error) {
        return refused(error);
      }
    });
    this.#refuseClosed("Queue.addBulk");
    return this.#writes.run(async () => {
      const checked = checking.some(isPromise)
        ? await Promise.all(checking)
        : (checking as NewJob[]);
      const made: (Job | Promise<Job>)[] = [];
      const told = (some: readonly Added[], from: number): void => {
        some.forEach((one, n) => {
          if (!one.duplicate) made[from + n] = this.#made(checked[from + n] as NewJob, one);
        });
      };
      const added = await (this.#telemetry === undefined
        ? this.#addAll(checked, told)
        : this.#telemetry.addBulk(checked, (all) => this.#addAll(all, told)));
      added.forEach((one, at) => {
        if (one.duplicate) made[at] = this.#standing(checked[at] as NewJob, one);
      });
      return (made.some(isPromise) ? await Promise.all(made) : made) as unknown as AddedJobs<M, J>;
    });
  }

  /**
   * Adds one job and waits for its end; resolves to its result. The timeout is in ms and counts from now.
   * @throws as {@link add}; `EchoMQError` `WAIT_TIMEOUT`, `JOB_FAILED` with the reason as its message,
   * `JOB_REMOVED`, `RESULT_GONE`, or `CLOSED` when the events are closed.
   */
  addAndWait<N extends JobName<M>>(
    name: N,
    data: DataOf<M, N>,
    opts: JobOptions | undefined,
    wait: WaitOptions,
  ): Promise<ResultOf<M, N>> {
    const add = (): Promise<Job> => this.add(name, data, opts) as Promise<Job>;
    return addAndWait(this.#session, this.name, wait, add) as Promise<ResultOf<M, N>>;
  }

  /**
   * One job by id, or null.
   * @throws ValidationError for an id that cannot be one; `FenceError` or `ServerError`.
   */
  async getJob<N extends JobName<M> = JobName<M>>(id: string): Promise<AnyJob<M, N> | null> {
    const [job] = await readJobs(this.#session, [jobId(id, "id")], "Queue.getJob");
    return (job ?? null) as AnyJob<M, N> | null;
  }

  /**
   * Id of the job that stands for a deduplication id, or null.
   * @throws ValidationError for an id that cannot be one; `FenceError` or `ServerError`.
   */
  getDeduplicationJobId(id: string): Promise<string | null> {
    return getDeduplicationJobId(this.#session, id);
  }

  /**
   * Frees a deduplication id; a job kept back for it takes its place in line. Resolves to 1, or to 0 when
   * no job stood for it.
   * @throws as {@link getDeduplicationJobId}.
   */
  async removeDeduplicationKey(id: string): Promise<number> {
    const op = "Queue.removeDeduplicationKey";
    return (await removeDeduplicationKey(this.#session, id, "", op)) ? 1 : 0;
  }

  /**
   * Sets how many jobs may wait in the queue, delayed ones included, or lifts the limit with null. What is
   * added beyond it is refused with `EMQFULL`; jobs that come back to the line are not.
   * @throws ValidationError; `FenceError` or `ServerError`.
   */
  setMaxLength(most: number | null): Promise<void> {
    return setMaxLength(this.#session, most);
  }

  /** @throws FenceError or ServerError. */
  async isPaused(): Promise<boolean> {
    return (await this.#counts("Queue.isPaused")).paused === 1;
  }

  /**
   * Stops every worker of the queue from claiming more; what runs goes on.
   * @throws FenceError or ServerError.
   */
  async pause(): Promise<void> {
    await this.#setPaused(1, "Queue.pause");
  }

  /**
   * Lets workers claim again and wakes them.
   * @throws FenceError or ServerError.
   */
  async resume(): Promise<void> {
    await this.#setPaused(0, "Queue.resume");
  }

  /**
   * Waits for adds on their way, at most 15 s, then ends the connection. Never rejects; a second call
   * waits for the first.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    // The adds themselves end once their own retrying does.
    await within(this.#writes.settled(), ADDS_MS);
    await this.#ids.release();
    await this.#session.close();
  }

  async #add(job: NewJob): Promise<Added> {
    return this.#adder.add(await this.#session.get("Queue.add"), job);
  }

  async #addAll(
    jobs: readonly NewJob[],
    told: (added: readonly Added[], from: number) => void,
  ): Promise<Added[]> {
    return this.#adder.addAll(await this.#session.get("Queue.addBulk"), jobs, told);
  }

  #refuseClosed(op: string): void {
    if (this.#closing) throw closedError(op, this.name);
  }

  /** A promise only where the schema of the job is asynchronous. */
  #checked(name: unknown, data: unknown, opts: JobOptions | undefined): NewJob | Promise<NewJob> {
    const { codec, defaults, maxDataSize, schemas } = this.#settings;
    const named = nameText("name", name);
    const checked = checkJobOptions(opts, defaults);
    const made = (value: unknown): NewJob => ({
      name: named,
      data: codec.write("data", value === undefined ? {} : value, maxDataSize),
      opts: checked,
    });
    const schema = schemas.get(named);
    if (!schema) return made(data);
    const value = validate(schema, named, data);
    return isPromise(value) ? quiet(value.then(made)) : made(value);
  }

  /** The job that stood before, which may differ from what was sent. */
  async #standing(job: NewJob, added: Added): Promise<Job> {
    return ((await this.getJob(added.id)) as Job | null) ?? this.#made(job, added);
  }

  /** The job as it was sent. */
  #made(job: NewJob, added: Added): Job {
    const { deduplication } = job.opts;
    const fields = {
      name: job.name,
      data: job.data,
      opts: job.opts.stored,
      timestamp: String(added.timestamp),
      delay: String(added.delay),
      priority: String(job.opts.priority),
      ...(deduplication ? { deid: deduplication.id } : {}),
    };
    return new Job({ id: added.id, queue: this.name, fields }, this.#session);
  }

  async #counts(op: string): Promise<JobCounts & { readonly paused: number }> {
    const session = await this.#session.get(op);
    const counts = await session.read(countsScript, { q: this.name, args: {} }, op);
    return counts ?? { ...NONE, paused: 0 };
  }

  async #setPaused(paused: number, op: string): Promise<void> {
    const session = await this.#session.get(op);
    await session.write(pauseScript, { q: this.name, args: { paused } }, op);
  }
}

/** Another job may be refused, or the queue be closed, before anybody waits for this promise. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
