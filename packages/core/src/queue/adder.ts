import { addScript } from "@echomq/scripts";
import type { Session } from "../connection/session.js";
import type { JobIds } from "../ids/node-lease.js";
import type { CheckedJobOptions } from "../options/job-options.js";

/** One job on its way to the server, already checked. */
export interface NewJob {
  readonly name: string;
  readonly data: string;
  readonly opts: CheckedJobOptions;
}

/** What became of one job: its id, its time, and whether it stood there before. */
export interface Added {
  readonly id: string;
  readonly timestamp: number;
  readonly duplicate: boolean;
}

interface Pending {
  readonly job: NewJob;
  readonly resolve: (added: Added) => void;
  readonly reject: (error: unknown) => void;
}

/** Most jobs of one automatic batch, and of one chunk of `addBulk`: beyond, a call holds Redis too long. */
const AUTO_BATCH = 256;
export const CHUNK = 500;
/** Most bytes of one call, so that a few large payloads do not hold the server either. */
const CHUNK_BYTES = 4 * 1024 * 1024;

/** Adds jobs. What is added in one tick, or while a call is in flight, goes together in the next call. */
export class Adder {
  readonly #ids: JobIds;
  readonly #waiting: Pending[] = [];
  #sending: Promise<void> | undefined;

  constructor(ids: JobIds) {
    this.#ids = ids;
  }

  /** Adds one job with the next batch. */
  add(session: Session, job: NewJob): Promise<Added> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      this.#sending ??= this.#drain(session).finally(() => {
        this.#sending = undefined;
      });
    });
  }

  /** Adds jobs in order, each chunk in one atomic step. */
  async addAll(session: Session, jobs: readonly NewJob[]): Promise<Added[]> {
    const added: Added[] = [];
    for (const chunk of chunks(jobs, CHUNK)) added.push(...(await this.#send(session, chunk)));
    return added;
  }

  async #drain(session: Session): Promise<void> {
    await Promise.resolve(); // the rest of this tick's adds
    while (this.#waiting.length > 0) {
      const next = this.#waiting.slice(0, AUTO_BATCH).map(({ job }) => job);
      const [jobs = []] = chunks(next, AUTO_BATCH);
      const batch = this.#waiting.splice(0, jobs.length);
      try {
        const added = await this.#send(session, jobs);
        for (const [at, { resolve }] of batch.entries()) resolve(added[at] as Added);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
  }

  async #send(session: Session, jobs: readonly NewJob[]): Promise<Added[]> {
    const now = await session.clock.now();
    const ids: string[] = [];
    for (const { opts } of jobs) ids.push(opts.jobId ?? (await this.#ids.next(session)));
    const status = await this.#call(session, jobs, ids, now);
    // Another process minted the same id, which only a clock far out of step can do: mint anew.
    const again = jobs.flatMap(({ opts }, at) =>
      status[at] === "duplicate" && opts.jobId === undefined ? [at] : [],
    );
    if (again.length > 0) {
      const anew = await this.#send(
        session,
        again.map((at) => jobs[at] as NewJob),
      );
      again.forEach((at, n) => {
        ids[at] = anew[n]?.id ?? "";
        status[at] = "added";
      });
    }
    return ids.map((id, at) => ({ id, timestamp: now, duplicate: status[at] === "duplicate" }));
  }

  async #call(
    session: Session,
    jobs: readonly NewJob[],
    ids: readonly string[],
    now: number,
  ): Promise<string[]> {
    const given = ids.filter((_, at) => jobs[at]?.opts.jobId !== undefined);
    const items = jobs.map(({ name, data, opts }) => ({
      name,
      data,
      opts: opts.stored,
      timestamp: now,
      delay: opts.delay,
      priority: opts.priority,
      flags: (opts.lifo ? 1 : 0) + (opts.jobId === undefined ? 0 : 2),
    }));
    const call = { q: session.q, jobs: ids, namesakes: given, args: { now }, items };
    return [...(await session.write(addScript, call, "Queue.add"))];
  }
}

/** Cuts jobs into runs of at most `most` jobs and about 4 MB; one huge job is a run of its own. */
function chunks(jobs: readonly NewJob[], most: number): NewJob[][] {
  const out: NewJob[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const job of jobs) {
    const last = out.at(-1);
    if (last === undefined || last.length >= most || bytes + job.data.length > CHUNK_BYTES) {
      out.push([job]);
      bytes = job.data.length;
    } else {
      last.push(job);
      bytes += job.data.length;
    }
  }
  return out;
}
