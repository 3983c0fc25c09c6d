import type { Keep, ModelJob, ModelRecord, ModelRun } from "./jobs.js";
import { Line } from "./line.js";

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
  /** What the events must tell of each job, in order. */
  readonly told: { readonly id: string; readonly code: string }[] = [];
  #claims = 0;

  /** Gives a job its real id, once that is known. */
  rename(from: string, to: string): void {
    const job = this.jobs.get(from);
    if (job === undefined) return;
    this.jobs.delete(from);
    this.jobs.set(to, { ...job, id: to });
    const ids = [this.known, this.delayed, this.line.of(job.priority)];
    for (const list of ids) if (list.includes(from)) list[list.indexOf(from)] = to;
    for (const [at, { id, code }] of this.told.entries()) {
      if (id === from) this.told[at] = { id: to, code };
    }
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

  /** The newer job takes the part of the one that was kept back. */
  dropNext(record: ModelRecord): void {
    const next = this.#nextOf(record);
    if (next) {
      this.tell(next.id, "x");
      this.drop(next.id);
    }
    record.next = undefined;
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

  tell(id: string, code: string): void {
    this.told.push({ id, code });
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
      // KNOWN: what it kept back goes with it, and is told nowhere.
      const next = this.#nextOf(record);
      if (next) this.drop(next.id);
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
      this.tell(id, "a");
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
    this.tell(job.id, "w");
    this.lineUp(job, "back");
  }

  /** The end of a job: it stays or goes by its retention, and its record is handed on. */
  end(job: ModelJob, place: "completed" | "failed", keep: Keep): void {
    this.runs.delete(job.id);
    this.tell(job.id, place === "completed" ? "c" : "f");
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
    this.tell(next.id, next.due > this.now ? "d" : "w");
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
  copy(): () => void {
    const jobs = [...this.jobs].map(([id, job]) => [id, { ...job }] as const);
    const records = [...this.records].map(([id, record]) => [id, { ...record }] as const);
    const delayed = [...this.delayed];
    const told = this.told.length;
    const ranks = jobs.map(([, job]) => job.priority);
    const lists = new Map([0, ...ranks].map((rank) => [rank, [...this.line.of(rank)]]));
    return () => {
      this.jobs.clear();
      for (const [id, job] of jobs) this.jobs.set(id, job);
      this.records.clear();
      for (const [id, record] of records) this.records.set(id, record);
      this.delayed = delayed;
      this.told.length = told;
      this.line.clear();
      for (const [rank, ids] of lists) this.line.of(rank).push(...ids);
    };
  }
}
