import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pauseScript } from "../../src/index.js";
import { type Bench, closeBench, ENGINES, openBench } from "../support/bench.js";
import { Life, type Worker } from "../support/life.js";

type Row = { delay: number; priority: number; lifo: boolean };
type Act =
  | { type: "add"; rows: Row[] }
  | { type: "step"; worker: number; end: number; claiming: boolean }
  | { type: "finish"; worker: number; how: string; claiming: boolean }
  | { type: "pass" }
  | { type: "pause" | "resume" }
  | { type: "die"; worker: number };

const worker = fc.nat({ max: 2 });
const row: fc.Arbitrary<Row> = fc.record({
  delay: fc.constantFrom(0, 0, 30),
  // No priority: the worker's core settles those by `finish`, as `step` does not declare `priorities`.
  priority: fc.constant(0),
  lifo: fc.boolean(),
});
const ranked: fc.Arbitrary<Row> = fc.record({
  delay: fc.constantFrom(0, 0, 30),
  priority: fc.constantFrom(0, 1, 2),
  lifo: fc.boolean(),
});

const act = (rows: fc.Arbitrary<Row>): fc.Arbitrary<Act> =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        type: fc.constant("add"),
        rows: fc.array(rows, { minLength: 1, maxLength: 5 }),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        type: fc.constant("step"),
        worker,
        end: fc.integer({ min: 1, max: 3 }),
        claiming: fc.boolean(),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        type: fc.constant("finish"),
        worker,
        how: fc.constantFrom("completed", "failed", "retry", "delay", "release"),
        claiming: fc.boolean(),
      }),
    },
    { weight: 2, arbitrary: fc.record({ type: fc.constant("pass") }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constantFrom("pause", "resume") }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant("die"), worker }) },
  );

/** Does one thing; answers a worker that claims nothing after it, as one that closes. */
async function perform(life: Life, one: Act, settles: boolean): Promise<Worker | undefined> {
  const { b } = life;
  if (one.type === "add") await life.add(one.rows);
  else if (one.type === "pass") {
    life.now += 25;
    await b.promote(life.now);
  } else if ("worker" in one) {
    const who = life.workers[one.worker] as Worker;
    if (who.runs.size === 0) return undefined;
    if (one.type === "die") {
      await life.die(who);
      return who;
    }
    if (one.type === "finish") await life.finish(who, one.how);
    else if (settles) await life.step(who, one.end, false, one.claiming);
    return one.claiming ? undefined : who;
  } else {
    const args = { paused: one.type === "pause" ? 1 : 0 };
    await b.run.run(pauseScript, { q: b.q, args });
  }
  return undefined;
}

describe.each(ENGINES)("any life of a queue on %s", (engine) => {
  let base: Bench;
  beforeAll(async () => {
    base = await openBench(engine);
  });
  afterAll(() => closeBench(base));

  test.each([
    { what: "settled by step", limit: 0, rows: row, settles: true },
    { what: "under a limit", limit: 2, rows: row, settles: true },
    { what: "with priorities", limit: 0, rows: ranked, settles: false },
  ])(
    "keeps each job in one place and lets no worker sleep beside work: $what",
    async ({ limit, rows, settles }) => {
      const plan = fc.array(act(rows), { minLength: 5, maxLength: 30 });
      await fc.assert(
        fc.asyncProperty(plan, fc.boolean(), async (acts, hinted) => {
          const b = await base.fresh();
          if (limit > 0) await b.redis.hset(b.unit("meta"), "concurrency", String(limit));
          const life = new Life(b, [1, 2, 3]);
          await life.settle(hinted);
          for (const one of acts) {
            const closing = await perform(life, one, settles);
            await life.settle(hinted, closing);
            const sleeper = life.workers.some(({ blocked }) => blocked);
            if (sleeper) expect(await life.claimable(), JSON.stringify(one)).toBe(0);
          }
          expect(await life.faults()).toEqual([]);
        }),
        { numRuns: 25 },
      );
    },
  );
});
