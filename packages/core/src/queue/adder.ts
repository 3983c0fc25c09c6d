import { addScript, pushScript } from "@echomq/scripts";
import { errorFromReply, isEchoMQError } from "@echomq/wire";
import type { Session } from "../connection/session.js";
import { Turnstile } from "../connection/turnstile.js";
import type { JobIds } from "../ids/node-lease.js";
import { bury } from "../job/bury.js";
import type { CheckedJobOptions } from "../options/job-options.js";
import { Holders, wordOf } from "./holders.js";
import { Lean } from "./lean.js";

/** One job on its way to the server, already checked. */
export interface NewJob {
  readonly name: string;
  readonly data: string;
  readonly opts: CheckedJobOptions;
}

/** What became of one job. */
export interface Added {
  /** Its id, or that of the job which stands for it. */
  readonly id: string;
  readonly timestamp: number;
  readonly delay: number;
  /** Another job stands: of the same id, or of the same deduplication id. */
  readonly duplicate: boolean;
  /** Why it was refused. */
  readonly refusal?: Error;
}

interface Pending {
  readonly job: NewJob;
  readonly resolve: (added: Added) => void;
  readonly reject: (error: unknown) => void;
}

/** Words of the jobs of a call in which none was anything but added. */
const ALL_ADDED: readonly string[] = [];

/** Most jobs of one automatic batch, and of one list that goes in a single call: beyond, it holds Redis too long. */
const AUTO_BATCH = 256;
const WHOLE = 500;
/** Jobs of one call where a list needs several: one is made ready while the server takes another. */
const CHUNK = 125;
/** Calls in flight: the server works on one while another is made here. */
const CALLS = 2;
/** Most bytes of one call, so that a few large payloads do not hold the server either. */
const CHUNK_BYTES = 4 * 1024 * 1024;
/** Most calls for one batch while the holders of its deduplication ids change. */
const TRIES = 10;

/** Which way jobs came: what one is called in errors, and whether the length limit refuses all or none. */
const ONE = { op: "Queue.add", whole: 0 } as const;
const BULK = { op: "Queue.addBulk", whole: 1 } as const;
type Way = typeof ONE | typeof BULK;

/** From so many jobs on a batch is sent as two, so that one is made here while the server takes the other. */
const SHARE = 16;

/** Adds jobs. What is added in one tick, or while a call is in flight, goes together in the next call. */
export class Adder {
  readonly #ids: JobIds;
  readonly #holders = new Holders();
  readonly #waiting: Pending[] = [];
  readonly #turnstile = new Turnstile();
  readonly #lean = new Lean();
  #inFlight = 0;
  /**
   * Calls in flight that others would overtake: they wait for the server's time or a node id, or may have to be
   * sent again because the holder of a record was not known.
   */
  #unsure = 0;
  #scheduled = false;
  /** The calls in flight are pushes. */
  #pushes = false;

  constructor(ids: JobIds) {
    this.#ids = ids;
  }

  /** Adds one job with the next batch. */
  add(session: Session, job: NewJob): Promise<Added> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      if (this.#scheduled) return;
      this.#scheduled = true;
      // A microtask later: the rest of this tick's adds.
      queueMicrotask(() => {
        this.#scheduled = false;
        this.#pump(session);
      });
    });
  }

  /**
   * Adds jobs in order, in one atomic step or, where there are many, in several. The first that fails
   * is told when those on their way have ended; none is sent after it. `told` takes what became of some of
   * them, from the given place on, while others are on their way.
   */
  async addAll(
    session: Session,
    jobs: readonly NewJob[],
    told: (added: readonly Added[], from: number) => void = () => undefined,
  ): Promise<Added[]> {
    const list = chunks(jobs, jobs.length > WHOLE ? CHUNK : WHOLE);
    // One that is sent again, because it did not know the holder of a record, would be overtaken.
    const calls = jobs.some(locks) ? 1 : CALLS;
    // Decided for all: one that is refused, and sent again by `add`, would be overtaken by one that was added.
    const push = this.#lean.fits(jobs);
    const added: Added[] = [];
    const flying: Promise<Added[]>[] = [];
    const take = (some: readonly Added[] = []): void => {
      told(some, added.length);
      added.push(...some);
    };
    try {
      for (const chunk of list) {
        const sending = this.#ready(session, chunk) ?? (await this.#make(session, chunk));
        const sent = this.#send(session, chunk, BULK, sending, push && this.#lean.open);
        // It may fail while another is waited for.
        sent.catch(() => undefined);
        if (flying.push(sent) === calls) take(await flying.shift());
      }
      for (const sent of flying) take(await sent);
    } finally {
      await Promise.allSettled(flying);
    }
    return added;
  }

  #pump(session: Session): void {
    while (this.#waiting.length > 0) {
      // Two that wait for a node id would mint in turns; one that is sent again would be overtaken.
      const share = this.#waiting.length >= SHARE && this.#ids.leased && this.#unsure === 0;
      if (this.#inFlight >= (share ? CALLS : 1)) return;
      const half = share && this.#inFlight === 0 && this.#waiting.length >= 2 * SHARE;
      const most = Math.min(half ? Math.ceil(this.#waiting.length / 2) : AUTO_BATCH, AUTO_BATCH);
      const [jobs = []] = chunks(
        this.#waiting.slice(0, most).map(({ job }) => job),
        most,
      );
      const push = this.#lean.fits(jobs);
      // A push that is refused is added, and would be overtaken by what is added beside it.
      if (this.#inFlight > 0 && push !== this.#pushes) return;
      this.#pushes = push;
      const batch = this.#waiting.splice(0, jobs.length);
      const ready = this.#ready(session, jobs);
      const unsure = ready === undefined || jobs.some(locks) ? 1 : 0;
      this.#inFlight += 1;
      this.#unsure += unsure;
      void this.#deliver(session, { jobs, batch, push, ready }).then(() => {
        this.#inFlight -= 1;
        this.#unsure -= unsure;
        this.#pump(session);
      });
    }
  }

  /** Never rejects. */
  async #deliver(session: Session, { jobs, batch, push, ready }: Delivery): Promise<void> {
    try {
      const sending = ready ?? (await this.#make(session, jobs));
      const added = await this.#send(session, jobs, ONE, sending, push);
      const gate = this.#turnstile.pass();
      if (gate) await gate;
      for (const [at, { resolve, reject }] of batch.entries()) {
        const one = added[at] as Added;
        if (one.refusal) reject(one.refusal);
        else resolve(one);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  /** Makes jobs ready to be sent, at once; undefined where the server must be asked for something. */
  #ready(session: Session, jobs: readonly NewJob[]): Sending | undefined {
    const now = session.clock.known();
    if (now === undefined) return undefined;
    const ids: string[] = [];
    for (const { opts } of jobs) {
      const id = opts.jobId ?? this.#ids.ready();
      if (id === undefined) return undefined;
      ids.push(id);
    }
    return { ids, now };
  }

  async #make(session: Session, jobs: readonly NewJob[]): Promise<Sending> {
    const now = await session.clock.now();
    const ids: string[] = [];
    for (const { opts } of jobs) {
      ids.push(opts.jobId ?? this.#ids.ready() ?? (await this.#ids.next(session)));
    }
    return { ids, now };
  }

  async #send(
    session: Session,
    jobs: readonly NewJob[],
    way: Way,
    sending: Sending,
    push: boolean,
  ): Promise<Added[]> {
    const { ids, now } = sending;
    const delay = (at: number): number => delayOf(jobs[at]?.opts, now);
    const status =
      (push && (await this.#push(session, jobs, way, sending))) ||
      (await this.#call(session, jobs, way, sending));
    const added = ids.map((id, at) => {
      const [word, other = ""] = wordOf(status[at] ?? "");
      const one = { id, timestamp: now, delay: delay(at), duplicate: word === "duplicate" };
      if (word === "EMQFULL") {
        const about = { op: way.op, queue: session.q, jobId: jobs[at]?.opts.jobId };
        return { ...one, refusal: errorFromReply(status[at] ?? "", about) };
      }
      const stands = word === "deduplicated" || word === "held";
      return stands ? { ...one, id: other, duplicate: true } : one;
    });
    // Another process minted the same id, which only a clock far out of step can do: mint anew.
    const again = jobs.flatMap(({ opts }, at) =>
      status[at] === "duplicate" && opts.jobId === undefined ? [at] : [],
    );
    if (again.length === 0) return added;
    const anew = again.map((at) => jobs[at] as NewJob);
    const more = await this.#send(session, anew, way, await this.#make(session, anew), false);
    again.forEach((at, n) => {
      added[at] = more[n] as Added;
    });
    return added;
  }

  /** Adds plain jobs; undefined where `add` must do it, and nothing was written. */
  async #push(
    session: Session,
    jobs: readonly NewJob[],
    { op }: Way,
    { ids, now }: Sending,
  ): Promise<readonly string[] | undefined> {
    const items = jobs.map(({ name, data, opts }) => ({ name, data, opts: opts.stored }));
    try {
      const call = { q: session.q, jobs: ids, args: { now }, items };
      const word = await session.write(pushScript, call, op);
      // Else one of them stands already: it was sent before.
      return word === "ok" ? ALL_ADDED : undefined;
    } catch (error) {
      if (!isEchoMQError(error, "EMQRETRY")) throw error;
      this.#lean.refused();
      return undefined;
    }
  }

  async #call(
    session: Session,
    jobs: readonly NewJob[],
    way: Way,
    { ids, now }: Sending,
  ): Promise<readonly string[]> {
    const items = jobs.map(({ name, data, opts }) => ({
      name,
      data,
      opts: opts.stored,
      timestamp: now,
      delay: delayOf(opts, now),
      priority: opts.priority,
      flags: (opts.lifo ? 1 : 0) + (opts.jobId === undefined ? 0 : 2),
    }));
    const namesakes = ids.filter((_, at) => jobs[at]?.opts.jobId !== undefined);
    const locked = jobs.flatMap(({ opts: { deduplication } }, at) =>
      deduplication ? [{ ...deduplication, item: at + 1 }] : [],
    );
    const { op, whole } = way;
    for (let attempt = 1; ; attempt += 1) {
      const locks = this.#holders.declare(locked);
      const call = { q: session.q, jobs: ids, namesakes, args: { now, whole }, items, ...locks };
      try {
        const status = await session.write(addScript, call, op);
        this.#learn(session, locked, ids, status, op);
        return status;
      } catch (error) {
        // Nothing was written: a record is held by another job than the one declared.
        if (!isEchoMQError(error, "EMQRETRY") || attempt === TRIES) throw error;
      }
      await this.#holders.read(
        session,
        locked.map(({ id }) => id),
        op,
      );
    }
  }

  #learn(
    session: Session,
    locked: readonly { readonly id: string; readonly item: number }[],
    ids: readonly string[],
    status: readonly string[],
    op: string,
  ): void {
    const replaced: string[] = [];
    for (const { id, item } of locked) {
      const told = status[item - 1] ?? "";
      this.#holders.learn(id, ids[item - 1] ?? "", told);
      const [word, other = ""] = wordOf(told);
      if (word === "replaced") replaced.push(other);
    }
    // What is left the sweep does.
    if (replaced.length > 0) void bury(session, replaced, op).catch(() => undefined);
  }
}

/** One automatic batch. */
interface Delivery {
  readonly jobs: readonly NewJob[];
  readonly batch: readonly Pending[];
  readonly push: boolean;
  /** Undefined where the server must be asked for something first. */
  readonly ready: Sending | undefined;
}

/** What one call is made of, besides its jobs. */
interface Sending {
  readonly ids: readonly string[];
  /** Server ms at which they are added. */
  readonly now: number;
}

function locks({ opts }: NewJob): boolean {
  return opts.deduplication !== undefined;
}

/** `now` is the server's time. */
function delayOf(opts: CheckedJobOptions | undefined, now: number): number {
  const { delay = 0, runAt } = opts ?? {};
  return runAt === undefined ? delay : Math.max(runAt - now, 0);
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
