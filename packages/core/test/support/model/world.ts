import {
  type Keep,
  keepOf,
  type ModelJob,
  type ModelRecord,
  type ModelRun,
  newJob,
  type Spec,
} from "./jobs.js";
import { Line } from "./line.js";

/** What an add answers: an id, `EMQFULL`, or `ANY` where it may be any. */
export type AddAnswer = string;

/** The queue as it should be, without Redis. Times are server ms. */
export class World {
  now = 0;
  readonly jobs: Map<string, ModelJob> = new Map();
  readonly line: Line = new Line();
  /** Next due first; equal times in the order they came. */
  delayed: string[] = [];
  readonly runs: Map<string, ModelRun> = new Map();
  readonly records: Map<string, ModelRecord> = new Map();
  /** Every id there ever was, for picking one. */
  readonly known: string[] = [];
  paused = false;
  concurrency: number | null = null;
  rate: { readonly max: number; readonly ms: number } | null = null;
  /** Jobs started in the window that runs; endless for a hold by hand. */
  window: { used: number; readonly until: number } | null = null;
  maxLength: number | null = null;
  #claims = 0;

  /** Gives a job its real id, once that is known. */
  rename(from: string, to: string): void {
    const job = this.jobs.get(from);
    if (job === undefined) return;
    this.jobs.delete(from);
    this.jobs.set(to, { ...job, id: to });
    const ids = [this.known, this.delayed, this.line.of(job.priority)];
    for (const list of ids) if (list.includes(from)) list[list.indexOf(from)] = to;
    for (const record of this.records.values()) {
      if (record.job === from) record.job = to;
      if (record.next === from) record.next = to;
    }
  }

  job(id: string | undefined): ModelJob | undefined {
    return id === undefined ? undefined : this.jobs.get(id);
  }

  /** Ids that have ended so, oldest first. */
  ended(place: "completed" | "failed"): ModelJob[] {
    const all = [...this.jobs.values()].filter((job) => job.place === place);
    const at = (job: ModelJob): number => job.endedAt ?? 0;
    return all.sort((a, b) => at(a) - at(b) || (a.id < b.id ? -1 : 1));
  }

  get waiting(): number {
    return this.line.length + this.delayed.length;
  }

  /** Adds jobs one after the other; `whole` where none is added unless all are. */
  add(rows: readonly { readonly id: string; readonly spec: Spec }[], whole: boolean): AddAnswer[] {
    const before = whole ? this.#copy() : undefined;
    const stood = new Set(this.jobs.keys());
    const wrote: (ModelJob | undefined)[] = [];
    const answers = rows.map(({ id, spec }) => {
      const was = this.jobs.get(id);
      // Of one call, an id that stood before it is that job's, whatever becomes of it in the call.
      const answer = stood.has(id) && was === undefined ? id : this.#addOne(id, spec);
      const is = this.jobs.get(id);
      wrote.push(is === was ? undefined : is);
      return answer;
    });
    if (before && answers.includes("EMQFULL")) {
      before();
      return rows.map(() => "EMQFULL");
    }
    for (const { id } of rows) if (!this.known.includes(id)) this.known.push(id);
    const undone = new Set(wrote.filter((job) => job && this.jobs.get(job.id) !== job));
    const gone = new Set([...undone].map((job) => job?.id));
    return answers.map((answer, at) => {
      const { id, spec } = rows[at] as (typeof rows)[number];
      // One that another of the same call took the place of was never there.
      if (answer === id && undone.has(wrote[at])) {
        return this.records.get(spec.deduplication?.id ?? "")?.job ?? answer;
      }
      // KNOWN: who was dropped for such a one is told the id of it.
      return wrote[at] === undefined && gone.has(answer) ? "ANY" : answer;
    });
  }

  #addOne(id: string, spec: Spec): AddAnswer {
    const { deduplication: lock } = spec;
    const known = this.jobs.get(id);
    if (known !== undefined) {
      // The same once more, as after a lost reply: it is told what it was told.
      const record = lock && this.records.get(lock.id);
      return known.addedAt === this.now && record?.next === id ? record.job : id;
    }
    const full = this.maxLength !== null && this.waiting >= this.maxLength;
    if (lock === undefined) {
      if (full) return "EMQFULL";
      this.#write(id, spec);
      return id;
    }
    const record = this.record(lock.id);
    const ttl = lock.keepLastIfActive ? 0 : (lock.ttl ?? 0);
    const until = ttl > 0 ? this.now + ttl : undefined;
    if (record === undefined) {
      if (full) return "EMQFULL";
      this.records.set(lock.id, { job: id, next: undefined, until });
      this.#write(id, spec);
      return id;
    }
    const holder = this.jobs.get(record.job);
    if (lock.replace && holder?.place === "delayed") {
      this.#dropNext(record);
      this.drop(holder.id);
      if (ttl === 0 || lock.extend) record.until = until;
      record.job = id;
      this.#write(id, spec);
      return id;
    }
    if (lock.keepLastIfActive && holder?.place === "active") {
      this.#dropNext(record);
      record.next = id;
      record.until = undefined;
      const job = newJob(id, spec, this.now);
      job.place = "held";
      this.jobs.set(id, job);
      return record.job;
    }
    if (lock.extend && ttl > 0 && !lock.replace && record.next === undefined) record.until = until;
    return record.job;
  }

  /** The record of a deduplication id, where it is valid. */
  record(id: string): ModelRecord | undefined {
    const record = this.records.get(id);
    if (record === undefined) return undefined;
    if (record.until !== undefined) {
      if (record.until > this.now) return record;
    } else {
      const holder = this.jobs.get(record.job);
      if (holder?.spec.deduplication?.id === id && holder.endedAt === undefined) return record;
    }
    this.records.delete(id);
    return undefined;
  }

  /** The job that a record keeps back; it may have been cancelled or removed since. */
  #nextOf(record: ModelRecord): ModelJob | undefined {
    const next = this.job(record.next);
    if (next?.place !== "held") return undefined;
    const own = this.records.get(next.spec.deduplication?.id ?? "");
    return own === record ? next : undefined;
  }

  #dropNext(record: ModelRecord): void {
    const next = this.#nextOf(record);
    if (next) this.drop(next.id);
    record.next = undefined;
  }

  #write(id: string, spec: Spec): void {
    const job = newJob(id, spec, this.now);
    this.jobs.set(id, job);
    if (spec.delay > 0) this.putOff(job, spec.delay);
    else if (spec.lifo) this.lineUp(job, "front");
    else this.lineUp(job, "back");
  }

  /** Puts what must end ahead of all lines. */
  lineUpToEnd(job: ModelJob): void {
    job.place = "waiting";
    this.line.plain.unshift(job.id);
  }

  lineUp(job: ModelJob, where: "front" | "back"): void {
    job.place = job.priority > 0 ? "prioritized" : "waiting";
    this.line[where](job.id, job.priority);
  }

  putOff(job: ModelJob, ms: number): void {
    job.place = "delayed";
    job.due = this.now + ms;
    const later = this.delayed.findIndex((id) => (this.jobs.get(id)?.due ?? 0) > job.due);
    this.delayed.splice(later === -1 ? this.delayed.length : later, 0, job.id);
  }

  /** Takes a job out of wherever it stands, without a word about its record. */
  drop(id: string): void {
    this.leave(id);
    this.jobs.delete(id);
  }

  leave(id: string): void {
    this.line.leave(id);
    this.delayed = this.delayed.filter((one) => one !== id);
    this.runs.delete(id);
  }

  /** Removes a job for good: its record goes with it unless it is a throttle behind a job that ended. */
  remove(id: string): void {
    const job = this.jobs.get(id);
    if (job === undefined) return;
    const dedup = job.spec.deduplication?.id;
    const record = dedup === undefined ? undefined : this.records.get(dedup);
    const throttle = job.endedAt !== undefined && record?.until !== undefined;
    if (record?.job === id && !throttle) {
      this.#dropNext(record);
      this.records.delete(dedup ?? "");
    }
    this.drop(id);
  }

  /** How many more jobs may start now. */
  get room(): number {
    if (this.paused) return 0;
    const most = this.concurrency ?? Number.POSITIVE_INFINITY;
    if (this.window !== null && this.window.until <= this.now) this.window = null;
    const used = this.window?.used ?? 0;
    const held = used === Number.POSITIVE_INFINITY;
    const places = this.rate ? this.rate.max - used : held ? 0 : Number.POSITIVE_INFINITY;
    return Math.max(Math.min(most - this.runs.size, places), 0);
  }

  /** Claims up to `count` jobs; `lease` makes a lease of each. */
  claim(
    count: number,
    worker: number,
    leaseMs: number,
    tokenOf: (at: number) => string,
  ): ModelRun[] {
    const { room } = this;
    // What must end runs nothing: no limit counts it.
    const ending = this.paused ? [] : this.#ending.slice(0, count);
    for (const id of ending) this.line.leave(id);
    const started = this.line.take(Math.min(room, count - ending.length));
    if (started.length > 0 && this.rate) {
      this.window ??= { used: 0, until: this.now + this.rate.ms };
      this.window.used += started.length;
    }
    return [...ending, ...started].map((id, at) => {
      const job = this.jobs.get(id) as ModelJob;
      job.place = "active";
      this.#claims += 1;
      const run: ModelRun = {
        id,
        token: tokenOf(at),
        worker,
        claimedAt: this.now,
        order: this.#claims,
        deadline: this.now + leaseMs,
        begun: true,
      };
      this.runs.set(id, run);
      return run;
    });
  }

  /** Ids near the head of the line that must end. */
  get #ending(): string[] {
    const near = this.line.plain.slice(0, 100);
    return near.filter((id) => this.jobs.get(id)?.verdict !== undefined);
  }

  /** Moves what is due to the back of its line. */
  promote(): void {
    for (const id of [...this.delayed]) {
      const job = this.jobs.get(id) as ModelJob;
      if (job.due > this.now) break;
      this.advance(job);
    }
  }

  advance(job: ModelJob): void {
    this.delayed = this.delayed.filter((id) => id !== job.id);
    this.lineUp(job, "back");
  }

  /** The end of a job: it stays or goes by its retention, and its record is handed on. */
  end(job: ModelJob, place: "completed" | "failed", keep: Keep): void {
    this.runs.delete(job.id);
    job.place = place;
    job.endedAt = this.now;
    job.verdict = undefined;
    if (keep.count === 0) this.jobs.delete(job.id);
  }

  /** What kept a successor back lets it go; called after all ends of one step. */
  release(job: ModelJob): void {
    const dedup = job.spec.deduplication?.id;
    const record = dedup === undefined ? undefined : this.records.get(dedup);
    if (dedup === undefined || record?.job !== job.id || record.until !== undefined) return;
    this.handOn(dedup, record, true);
  }

  /** Frees a record; what it kept back takes its place, as holder where `stands`. */
  handOn(dedup: string, record: ModelRecord, stands: boolean): void {
    const next = this.#nextOf(record);
    if (next === undefined) {
      this.records.delete(dedup);
      return;
    }
    if (stands) this.records.set(dedup, { job: next.id, next: undefined, until: undefined });
    else this.records.delete(dedup);
    if (next.due > this.now) this.putOff(next, next.due - this.now);
    else this.lineUp(next, next.spec.lifo ? "front" : "back");
  }

  /** Trims what has ended to what a retention lets stay. */
  trim(place: "completed" | "failed", { count, ageMs }: Keep): void {
    const ended = this.ended(place);
    const old =
      ageMs === 0 ? 0 : ended.filter((job) => (job.endedAt ?? 0) <= this.now - ageMs).length;
    const over = Math.max(old, ended.length - count, 0);
    for (const job of ended.slice(0, over)) this.remove(job.id);
  }

  /** Leases that have ended, in the order in which their jobs come back. */
  get expired(): ModelRun[] {
    const all = [...this.runs.values()].filter(({ deadline }) => deadline <= this.now);
    const text = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
    return all.sort(
      (a, b) =>
        a.claimedAt - b.claimedAt ||
        a.token.length - b.token.length ||
        text(a.token, b.token) ||
        a.order - b.order,
    );
  }

  clear(): void {
    this.jobs.clear();
    this.line.clear();
    this.delayed = [];
    this.runs.clear();
    this.records.clear();
    this.window = null;
    this.paused = false;
  }

  /** A way back to what is now. */
  #copy(): () => void {
    const jobs = [...this.jobs].map(([id, job]) => [id, { ...job }] as const);
    const records = [...this.records].map(([id, record]) => [id, { ...record }] as const);
    const delayed = [...this.delayed];
    const lines = jobs.map(([, job]) => job.priority);
    const lists = new Map([0, ...lines].map((rank) => [rank, [...this.line.of(rank)]]));
    return () => {
      this.jobs.clear();
      for (const [id, job] of jobs) this.jobs.set(id, job);
      this.records.clear();
      for (const [id, record] of records) this.records.set(id, record);
      this.delayed = delayed;
      this.line.clear();
      for (const [rank, ids] of lists) this.line.of(rank).push(...ids);
    };
  }
}

export { keepOf };
