import { sharedServer } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import type { StandardSchemaV1 } from "../../src/index.js";
import { Bench, ENGINES } from "../support/bench.js";
import { refusal } from "../support/until.js";

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** Plain jobs and others go by two scripts, of which one may send a batch on to the other. */
describe.each(ENGINES)("jobs of several calls on %s", (engine) => {
  const open = async (): Promise<Bench> => Bench.on((await sharedServer(engine)).url);

  test.each([
    ["without a limit", null],
    ["of a queue with a limit", 1_000],
  ])("added in one tick keep their order, %s", async (_, limit) => {
    const bench = await open();
    const queue = bench.queue();
    if (limit) await queue.setMaxLength(limit);
    const added = await Promise.all(
      numbers(120).map((n) => queue.add("x", n, n % 40 === 39 ? { priority: 1 } : {})),
    );
    const plain = added.filter(({ priority }) => priority === 0).map(({ id }) => id);
    expect((await queue.getWaiting(0, 200)).map(({ id }) => id)).toEqual(plain);
    expect(plain).toHaveLength(117);
  });

  test.each([
    ["plain ones", () => undefined],
    ["one with a priority among them", (n: number) => (n === 249 ? { priority: 1 } : undefined)],
  ])("what a limit leaves of a list is its beginning: %s", async (_, optsOf) => {
    const bench = await open();
    const queue = bench.queue();
    await queue.setMaxLength(126);
    const first = await queue.add("x", "first");
    const jobs = numbers(501).map((n) => {
      const opts = optsOf(n);
      return { name: "x", data: n, ...(opts ? { opts } : {}) };
    });
    expect(await refusal(queue.addBulk(jobs))).toMatchObject({ code: "EMQFULL" });
    const data = (await queue.getWaiting(0, 600)).map((job) => job.data);
    expect(data).toEqual(["first", ...numbers(125)]);
    expect(await queue.getJob(first.id)).not.toBeNull();
  });

  test("a limit that comes and goes moves nothing out of order", async () => {
    const bench = await open();
    const queue = bench.queue();
    const adding: Promise<unknown>[] = [];
    for (let n = 0; n < 300; n += 1) {
      adding.push(queue.add("x", n, n % 50 === 49 ? { delay: 600_000 } : {}));
      if (n === 100) await queue.setMaxLength(1_000);
      if (n === 200) await queue.setMaxLength(null);
    }
    await Promise.all(adding);
    const data = (await queue.getWaiting(0, 400)).map((job) => job.data);
    expect(data).toEqual(numbers(300).filter((n) => n % 50 !== 49));
  });

  test("a job that is refused later than another leaves no rejection behind", async () => {
    const later: StandardSchemaV1 = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: async () => ({ issues: [{ message: "no" }] }),
      },
    };
    const seen: unknown[] = [];
    const note = (reason: unknown): void => void seen.push(reason);
    process.on("unhandledRejection", note);
    try {
      const queue = (await open()).queue({ schemas: { later } });
      const jobs = [
        { name: "later", data: 0 },
        { name: "x", data: 0, opts: { delay: -1 } },
      ];
      expect(await refusal(queue.addBulk(jobs))).toMatchObject({ option: "jobs[1].opts.delay" });
      await queue.close();
      expect(await refusal(queue.addBulk(jobs.slice(0, 1)))).toMatchObject({ code: "CLOSED" });
      expect(await refusal(queue.add("later", 0))).toMatchObject({ code: "CLOSED" });
      await new Promise((resolve) => setTimeout(resolve, 20));
    } finally {
      process.off("unhandledRejection", note);
    }
    expect(seen).toEqual([]);
  });
});
