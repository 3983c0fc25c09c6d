import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buryScript, unlockScript } from "../../src/index.js";
import { type Bench, closeBench, ENGINES, type Item, openBench, T } from "../support/bench.js";

type Where = "line" | "delayed" | "active" | "held" | "ended" | "gone";
type Ask = { delay: boolean; replace: boolean; last: boolean };
type Act =
  | { type: "add"; items: Ask[] }
  | { type: "claim" | "due" | "unlock" | "evict" }
  | { type: "end"; how: string }
  | { type: "remove" };

/** What deduplication under one id means, without Redis. */
class Model {
  readonly where: Map<string, Where> = new Map();
  holder: string | undefined;
  next: string | undefined;

  get stands(): boolean {
    const place = this.holder === undefined ? undefined : this.where.get(this.holder);
    return place !== undefined && place !== "ended" && place !== "gone";
  }

  add(id: string, { delay, replace, last }: Ask): void {
    const place = this.stands ? this.where.get(this.holder ?? "") : undefined;
    if (place === undefined || (replace && place === "delayed")) {
      if (this.next) this.where.set(this.next, "gone");
      if (place !== undefined) this.where.set(this.holder ?? "", "gone");
      this.next = undefined;
      this.holder = id;
      this.where.set(id, delay ? "delayed" : "line");
    } else if (last && place === "active") {
      if (this.next) this.where.set(this.next, "gone");
      this.next = id;
      this.where.set(id, "held");
    }
  }

  /** The holder is no holder any more; what it kept back takes its place. */
  release(succeed: boolean): void {
    const { next } = this;
    this.next = undefined;
    this.holder = succeed ? next : undefined;
    if (next) this.where.set(next, "line");
  }

  of(place: Where): string[] {
    return [...this.where].filter(([, at]) => at === place).map(([id]) => id);
  }
}

const flags = fc.record({ delay: fc.boolean(), replace: fc.boolean(), last: fc.boolean() });
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("add" as const),
      items: fc.array(flags, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constantFrom("claim" as const, "due" as const) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constantFrom("unlock" as const, "evict" as const) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("end" as const),
      how: fc.constantFrom("completed", "failed", "retry", "delay", "release"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("remove" as const) }) },
);

class Play {
  readonly b: Bench;
  readonly model = new Model();
  #count = 0;

  constructor(b: Bench) {
    this.b = b;
  }

  async do(one: Act): Promise<void> {
    const { b, model } = this;
    if (one.type === "add") return this.#add(one.items);
    if (one.type === "claim") {
      for (const id of await b.claim(1)) model.where.set(id, "active");
    } else if (one.type === "due") {
      await b.promote(T + 100_000);
      for (const id of model.of("delayed")) model.where.set(id, "line");
    } else if (one.type === "end") await this.#end(one.how);
    else if (one.type === "unlock") {
      const args = { now: T + 1_000, job: "" };
      await b.run.run(unlockScript, { q: b.q, args, dedups: ["d"] });
      model.release(false);
    } else if (one.type === "evict") {
      const [id] = model.of("active");
      if (id === undefined || id === model.holder) return;
      await b.redis.del(b.job(id));
      await b.redis.zrem(b.unit("active"), id);
      await b.redis.hdel(b.unit("owners"), id);
      model.where.set(id, "gone");
    } else await this.#remove();
  }

  async #add(items: readonly Ask[]): Promise<void> {
    const rows = items.map((ask): [string, Ask] => [`j${this.#count++}`, ask]);
    await this.b.add(
      rows.map(
        ([id, { delay, replace, last }]): Item => ({
          id,
          delay: delay ? 50 : 0,
          dedup: { id: "d", replace, last },
        }),
      ),
    );
    for (const [id, ask] of rows) this.model.add(id, ask);
  }

  async #end(how: string): Promise<void> {
    const { b, model } = this;
    const [id] = model.of("active");
    if (id === undefined) return;
    await b.finish([{ id, how, delay: 5, dedup: "d" }], { now: T + 1_000 });
    const final = how === "completed" || how === "failed";
    model.where.set(id, final ? "ended" : how === "delay" ? "delayed" : "line");
    if (final && id === model.holder) model.release(true);
  }

  async #remove(): Promise<void> {
    const { b, model } = this;
    const [id] = [...model.of("delayed"), ...model.of("line")];
    if (id === undefined) return;
    await b.redis.zrem(b.unit("delayed"), id);
    await b.redis.lrem(b.unit("wait"), 1, id);
    await b.redis.zadd(b.unit("trash"), T, id);
    model.where.set(id, "gone");
    await b.run.run(buryScript, {
      q: b.q,
      args: {},
      jobs: [id],
      dedups: ["d"],
      locks: [{ job: 1 }],
    });
    if (id !== model.holder) return;
    if (model.next) model.where.set(model.next, "gone");
    model.next = undefined;
    model.holder = undefined;
  }

  async check(what: string): Promise<void> {
    const { b, model } = this;
    const expected = (place: Where): string[] => model.of(place).sort();
    expect((await b.waiting()).sort(), what).toEqual(expected("line"));
    expect((await b.set("delayed")).sort(), what).toEqual(expected("delayed"));
    expect((await b.set("active")).sort(), what).toEqual(expected("active"));
    expect((await b.set("held")).sort(), what).toEqual(expected("held"));
    if (!model.stands) return;
    const record = await b.redis.hgetall(b.record("d"));
    expect([record.job, record.next], what).toEqual([model.holder, model.next]);
  }
}

describe.each(ENGINES)("any life of one deduplication id on %s", (engine) => {
  let base: Bench;
  beforeAll(async () => {
    base = await openBench(engine);
  });
  afterAll(() => closeBench(base));

  test("is what the small model says", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 3, maxLength: 25 }), async (acts) => {
        const play = new Play(await base.fresh());
        for (const one of acts) {
          await play.do(one);
          await play.check(JSON.stringify(one));
        }
      }),
      { numRuns: 150 },
    );
  });
});
