import type { ScriptName } from "@echomq/scripts";
import { type Engine, FlakyPlan, flakyDriver, ofScript, sharedServer } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { Bench, type DriverName, makeDriver } from "../support/bench.js";
import { NAMES, scriptOf } from "../support/path/recorder.js";
import { LIFE, lifeOf, lifeOptions } from "../support/programs/mortal-jobs.js";
import { until } from "../support/until.js";

/** How many lives go on at a time. */
const AT_ONCE = 6;

const CASES: readonly [Engine, DriverName, number, "lost" | "offline"][] = [
  ["redis", "ioredis", 0, "lost"],
  ["valkey", "node-redis", 4, "lost"],
  ["redis", "node-redis", 0, "offline"],
];

describe.each(CASES)(
  "every step of a job's life, on %s over %s, claiming %i ahead",
  (engine, driver, claimAhead, kind) => {
    /** One life of all jobs in which one call goes wrong; how often each script was called. */
    async function live(script?: ScriptName, nth = 0): Promise<Map<ScriptName, number>> {
      const { url } = await sharedServer(engine);
      const plan = new FlakyPlan();
      const bench = Bench.on(url, flakyDriver(await makeDriver(url, driver), plan));
      const rules = NAMES.map((name) => {
        const times = name === script ? 1 : 0;
        return [name, plan.on(ofScript(scriptOf(name)), { kind }, { nth, times })] as const;
      });
      const begun = new Map<string, number>();
      const told = new Map<string, number>();
      const queue = bench.queue();
      const [first, ...rest] = LIFE;
      await queue.add(first.name, first.data, first.opts);
      await queue.addBulk(rest);
      // No lease ends during the test: what goes wrong must come right by itself.
      const worker = bench.worker(
        lifeOf((line) => {
          const name = line.replace("begun ", "");
          begun.set(name, (begun.get(name) ?? 0) + 1);
        }),
        {
          ...lifeOptions(bench.name),
          claimAhead,
          concurrency: 2,
          lockDuration: 3_600_000,
        },
      );
      const count = (what: string): void => void told.set(what, (told.get(what) ?? 0) + 1);
      worker.on("completed", (job) => count(`completed ${job.name}`));
      worker.on("failed", (job, _error, retry) =>
        count(`${retry ? "again" : "failed"} ${job.name}`),
      );
      worker.on("lost", (job) => count(`lost ${job.name}`));
      worker.on("stalled", (id) => count(`stalled ${id}`));
      const what = script ? `${kind} ${script} no. ${nth}` : "nothing went wrong";
      await until(`all is done: ${what}`, async () => {
        const open = await queue.getJobCounts("waiting", "prioritized", "delayed", "active");
        const left = await bench.client.exists(bench.key("outbox"), bench.key("trash"));
        return Object.values(open).every((one) => one === 0) && left === 0 && told.size === 11;
      });
      await worker.close();

      const twice = (name: string): boolean => name === "again" || name === "put-off";
      const names = LIFE.map(({ name }) => name);
      expect(Object.fromEntries(begun), what).toEqual(
        Object.fromEntries(names.map((name) => [name, twice(name) ? 2 : 1])),
      );
      expect(Object.fromEntries(told), what).toEqual(
        Object.fromEntries([
          ...names.map((name) => [`${name === "bad" ? "failed" : "completed"} ${name}`, 1]),
          ...names.filter(twice).map((name) => [`again ${name}`, 1]),
        ]),
      );
      for (const job of await queue.getJobs()) {
        expect(job.attemptsMade, what).toBe(twice(job.name) ? 2 : 1);
      }
      expect((await bench.queue({}, `${bench.name}-dead`).getJobs()).length, what).toBe(1);
      expect((await queue.doctor()).findings, what).toEqual([]);
      await queue.close();
      return new Map(rules.map(([name, rule]) => [name, rule.seen]));
    }

    test(`${kind}: comes right without a lease ending, each run once`, {
      timeout: 120_000,
    }, async () => {
      const seen = await live();
      const steps = NAMES.flatMap((name) =>
        Array.from({ length: seen.get(name) ?? 0 }, (_, n): [ScriptName, number] => [name, n + 1]),
      );
      expect(steps.length).toBeGreaterThan(20);
      const one = async (): Promise<void> => {
        for (let step = steps.shift(); step; step = steps.shift()) await live(...step);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, one));
    });
  },
);
