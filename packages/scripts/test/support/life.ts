import type { Bench } from "./bench.js";
import { T } from "./bench.js";

export interface Worker {
  readonly name: string;
  readonly slots: number;
  /** Ids it runs, with the token of their claim. */
  readonly runs: Map<string, string>;
  /** It waits on the marker. */
  blocked: boolean;
}

/** A queue with workers that block, wake, claim and end jobs; time moves by hand. */
export class Life {
  readonly b: Bench;
  readonly workers: Worker[];
  now: number = T;
  #count = 0;

  constructor(b: Bench, slots: readonly number[]) {
    this.b = b;
    this.workers = slots.map((n, at) => ({
      name: `w${at}`,
      slots: n,
      runs: new Map(),
      blocked: false,
    }));
  }

  async add(rows: readonly { delay: number; priority: number; lifo: boolean }[]): Promise<void> {
    await this.b.add(
      rows.map((row) => ({ ...row, id: `j${this.#count++}` })),
      this.now,
    );
  }

  /**
   * Lets the workers do what they do of their own accord, until all wait or are busy: whoever waits
   * takes a member of the marker, whoever has free slots and does not wait claims.
   */
  async settle(hinted: boolean, except?: Worker): Promise<void> {
    for (;;) {
      const others = this.workers.filter((one) => one !== except);
      const next = others.find(({ blocked, runs, slots }) => !blocked && runs.size < slots);
      if (next) {
        await this.step(next, 0, hinted);
        continue;
      }
      const waiting = others.filter(({ blocked }) => blocked);
      const [woken] = waiting.slice(this.#count % Math.max(waiting.length, 1));
      if (!woken) return;
      const [member] = await this.b.redis.zpopmin(this.b.unit("marker"));
      if (member === undefined) return;
      woken.blocked = false;
    }
  }

  /** Settles `end` of its runs and claims for its free slots; blocks when it got less than it asked. */
  async step(worker: Worker, end: number, hinted: boolean, claiming = true): Promise<void> {
    const done = [...worker.runs].slice(0, end).map(([id, token]) => ({ id, token }));
    for (const { id } of done) worker.runs.delete(id);
    const claim = claiming ? worker.slots - worker.runs.size : 0;
    const token = `${worker.name}.${this.#count++}`;
    const deadline = this.now + 1_000;
    const input = { done, claim, token, now: this.now, deadline, hints: hinted ? claim : 0 };
    const reply = await this.b.step({ ...input, keepCount: 5 });
    for (const { id } of reply.claimed) worker.runs.set(id, token);
    worker.blocked = claiming && reply.claimed.length < claim;
  }

  async finish(worker: Worker, how: string): Promise<void> {
    const [run] = worker.runs;
    if (!run) return;
    const [id, token] = run;
    worker.runs.delete(id);
    // Its slot is free, so it will ask again.
    worker.blocked = false;
    await this.b.finish([{ id, token, how, delay: 40 }], { now: this.now, failCount: 3 });
  }

  /** A worker is gone: its leases run out, another puts its jobs back, and it starts anew. */
  async die(worker: Worker): Promise<void> {
    const ids = [...worker.runs.keys()];
    worker.runs.clear();
    worker.blocked = false;
    await this.b.recover(ids, this.now + 2_000);
  }

  /** Jobs a worker could claim now. */
  async claimable(): Promise<number> {
    const { redis } = this.b;
    const batch = redis.pipeline();
    batch.llen(this.b.unit("wait")).zcard(this.b.unit("prioritized")).zcard(this.b.unit("active"));
    batch.hmget(this.b.unit("meta"), "paused", "concurrency");
    const [wait, ranked, active, meta] = ((await batch.exec()) ?? []).map(([, reply]) => reply);
    const [paused, limit] = meta as (string | null)[];
    if (paused || (limit && Number(active) >= Number(limit))) return 0;
    return Number(wait) + Number(ranked);
  }

  /** What is wrong with the structures: an id in two places, a lease without owner, a leak. */
  async faults(): Promise<string[]> {
    const { b } = this;
    const sets = ["prioritized", "delayed", "active", "completed", "failed", "trash"] as const;
    const lists = [await b.waiting(), ...(await Promise.all(sets.map((unit) => b.set(unit))))];
    const all = lists.flat();
    const faults: string[] = [];
    if (new Set(all).size !== all.length) faults.push(`in two places: ${all.join(" ")}`);
    const owners = (await b.redis.hkeys(b.unit("owners"))).sort();
    const active = (await b.set("active")).sort();
    if (String(owners) !== String(active)) faults.push(`owners ${owners} of active ${active}`);
    const running = this.workers.flatMap(({ runs }) => [...runs.keys()]).sort();
    if (String(running) !== String(active)) faults.push(`run ${running} of active ${active}`);
    const live = new Set([...lists.slice(0, 4).flat()]);
    for (const id of await b.redis.hkeys(b.unit("priorities"))) {
      if (!live.has(id)) faults.push(`priority of ${id}, which is not live`);
    }
    for (const id of all) if (!(await b.redis.exists(b.job(id)))) faults.push(`no hash of ${id}`);
    return faults;
  }
}
