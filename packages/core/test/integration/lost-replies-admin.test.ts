import {
  advanceScript,
  purgeScript,
  removeScript,
  retryScript,
  type Script,
} from "@echomq/scripts";
import { FlakyPlan, type FlakyRule, flakyDriver, ofScript, sharedServer } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import type { Queue } from "../../src/index.js";
import { Bench, ENGINES, makeDriver } from "../support/bench.js";
import { refusal, until } from "../support/until.js";

/** More than two steps of any verb. */
const MANY = 1_150;

describe.each(ENGINES)("verbs whose reply was lost on %s", (engine) => {
  async function open(): Promise<{
    bench: Bench;
    queue: Queue;
    lose: (script: Script) => FlakyRule;
  }> {
    const { url } = await sharedServer(engine);
    const plan = new FlakyPlan();
    const bench = Bench.on(url, flakyDriver(await makeDriver(url), plan));
    // A lost NOSCRIPT would be no call at all.
    const known = [advanceScript, purgeScript, removeScript, retryScript];
    for (const { source } of known) await bench.client.script("LOAD", source);
    const lose = (script: Script): FlakyRule => plan.on(ofScript(script), { kind: "lost" });
    return { bench, queue: bench.queue(), lose };
  }

  /** Jobs that stand in a state where a verb finds them. */
  async function ended(bench: Bench, unit: "failed" | "completed", count: number): Promise<void> {
    await bench.queue().pause();
    const batch = bench.client.pipeline();
    for (let n = 1; n <= count; n += 1) {
      batch.hset(bench.key(`job:j${n}`), { name: "x", data: "1", timestamp: n, finishedOn: n });
      batch.zadd(bench.key(unit), n, `j${n}`);
    }
    await batch.exec();
  }

  /** Nothing is broken, and no key of a removed job is left for a sweep. */
  async function clean(bench: Bench): Promise<void> {
    expect((await bench.queue().doctor()).findings).toEqual([]);
    expect(await bench.client.exists(bench.key("trash"))).toBe(0);
  }

  test("a job that was retried, or promoted, is told as such, and once", async () => {
    const { bench, queue, lose } = await open();
    await ended(bench, "failed", 1);
    const failed = await queue.getJob("j1");
    const delayed = await queue.add("x", 1, { delay: 600_000 });
    const rules = [lose(retryScript), lose(advanceScript)];
    await failed?.retry();
    await delayed.promote();
    expect(rules.map(({ hits }) => hits)).toEqual([1, 1]);
    expect((await queue.getWaiting()).map(({ id }) => id)).toEqual(["j1", delayed.id]);
    // Without a lost reply a second one is refused.
    expect(await refusal(failed?.retry() ?? queue.close())).toMatchObject({ code: "EMQSTATE" });
    expect(await refusal(delayed.promote())).toMatchObject({ code: "EMQSTATE" });
    await clean(bench);
  });

  test("retryJobs retries all of them, and counts them", async () => {
    const { bench, queue, lose } = await open();
    await ended(bench, "failed", MANY);
    const rule = lose(retryScript);
    expect(await queue.retryJobs()).toBe(MANY);
    expect(rule.hits).toBe(1);
    expect(await queue.getJobCounts()).toMatchObject({ waiting: MANY, failed: 0 });
    await clean(bench);
  });

  test.each(["completed", "waiting"] as const)("clean removes and names all %s", async (state) => {
    const { bench, queue, lose } = await open();
    if (state === "completed") await ended(bench, state, MANY);
    else await queue.addBulk(Array.from({ length: MANY }, (_, n) => ({ name: "x", data: n })));
    const rule = lose(removeScript);
    const gone = await queue.clean(0, 0, state);
    expect(rule.hits).toBe(1);
    expect(new Set(gone).size).toBe(MANY);
    expect(await queue.getJobCounts()).toMatchObject({ [state]: 0 });
    await clean(bench);
  });

  test("promoteJobs, drain and obliterate leave nothing behind", async () => {
    const { bench, queue, lose } = await open();
    const late = Array.from({ length: MANY }, (_, n) => ({
      name: "x",
      data: n,
      opts: { delay: 9e8 },
    }));
    await queue.addBulk(late);
    const rules = [lose(advanceScript), lose(purgeScript)];
    await queue.promoteJobs();
    expect(await queue.getJobCounts()).toMatchObject({ waiting: MANY, delayed: 0 });
    await queue.drain();
    expect(await queue.getJobCounts()).toMatchObject({ waiting: 0, delayed: 0 });
    // What the lost reply named is buried by the sweep.
    const sweeper = bench.worker(() => undefined, { lockDuration: 100, stalledInterval: 100 });
    await until("it is buried", async () => (await bench.client.exists(bench.key("trash"))) === 0);
    await sweeper.close();
    await queue.addBulk(Array.from({ length: 20 }, (_, n) => ({ name: "x", data: n })));
    rules.push(lose(purgeScript));
    await queue.obliterate();
    expect(rules.map(({ hits }) => hits)).toEqual([1, 1, 1]);
    expect(await bench.client.keys(`emq:{${bench.name}}:v2:job:*`)).toEqual([]);
    expect(await queue.getJobCounts()).toMatchObject({ waiting: 0 });
    await clean(bench);
  });
});

describe("a job that moves while a verb looks", () => {
  test("hides none of the others from retryJobs and clean", async () => {
    const { url } = await sharedServer("redis");
    const plan = new FlakyPlan();
    const bench = Bench.on(url, flakyDriver(await makeDriver(url), plan));
    const queue = bench.queue();
    const other = Bench.on(url, url, bench.name).queue();
    await other.pause();
    for (const [unit, verb, script] of [
      ["failed", () => queue.retryJobs(), retryScript],
      ["completed", () => queue.clean(0, 0, "completed"), removeScript],
    ] as const) {
      const batch = bench.client.pipeline();
      for (let n = 1; n <= 250; n += 1) {
        batch.hset(bench.key(`job:${unit}${n}`), { name: "x", data: "1", timestamp: n });
        batch.zadd(bench.key(unit), n, `${unit}${n}`);
      }
      await batch.exec();
      // Between the look and the act somebody else has removed a part of the page.
      const meanwhile = async (): Promise<void> => {
        for (let n = 1; n <= 60; n += 1) await other.remove(`${unit}${n}`);
      };
      plan.on(ofScript(script), { kind: "delay", until: meanwhile() });
      await verb();
      expect(await queue.getJobCounts()).toMatchObject({ [unit]: 0 });
    }
  });
});
