import { sharedServer } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { UnrecoverableError } from "../../src/index.js";
import { Bench } from "../support/bench.js";
import { until } from "../support/until.js";

async function open(): Promise<Bench> {
  return Bench.on((await sharedServer("redis")).url);
}

describe("what a handler does wrong", () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const trap = new Proxy(
    {},
    {
      get: () => {
        throw new Error("trap");
      },
      getPrototypeOf: () => {
        throw new Error("trap");
      },
    },
  );
  const getter = Object.defineProperty(new Error("x"), "message", {
    get: () => {
      throw new Error("no message");
    },
  });
  const thrown: readonly [string, unknown, RegExp][] = [
    ["null", null, /null/],
    ["undefined", undefined, /undefined/],
    ["a string", "plain text", /^plain text$/],
    ["an empty string", "", /empty/],
    ["a number", 42, /42/],
    ["a BigInt", 10n, /10/],
    ["a symbol", Symbol("s"), /Symbol/],
    ["a function", () => 1, /=>/],
    ["a circular object", circular, /object/],
    ["an object with a message", { message: "said" }, /^said$/],
    ["an object whose message is no text", { message: { toString: null } }, /message/],
    ["a proxy that refuses all", trap, /cannot be read/],
    ["an error with a throwing getter", getter, /./],
    ["an error without a message", new TypeError(), /TypeError/],
    ["a huge message", new Error("m".repeat(5_000_000)), /^m{4096}$/],
    ["a lone surrogate", new Error("a\ud800b"), /^a\ufffdb$/],
    ["a NUL", new Error("a\0b"), /^a\0b$/],
    ["an object without prototype", Object.create(null), /\{\}/],
  ];

  test.each(thrown)(
    "throwing %s is a recorded failure, once per attempt",
    async (_what, value, reason) => {
      const bench = await open();
      const queue = bench.queue();
      const told: unknown[] = [];
      let runs = 0;
      const worker = bench.worker(() => {
        runs += 1;
        throw value;
      });
      worker.on("failed", (_job, error) => told.push(error));
      const job = await queue.add("x", {}, { attempts: 2 });
      await until("it is failed", async () => (await queue.getJobCounts()).failed === 1);
      const read = await queue.getJob(job.id);
      expect(read?.failedReason).toMatch(reason);
      expect(read).toMatchObject({ attemptsMade: 2 });
      expect(read?.stacktrace.length).toBe(2);
      expect(read?.stacktrace.every((stack) => stack.length <= 16_384)).toBe(true);
      await until("it is told", () => told.length === 2);
      expect(told[0]).toBe(value);
      expect(runs).toBe(2);
      await worker.close();
    },
  );

  const results: readonly [string, unknown][] = [
    ["circular", circular],
    ["a BigInt", 1n],
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
    ["NaN", Number.NaN],
    ["Infinity inside", { deep: [Number.POSITIVE_INFINITY] }],
    ["a function inside", { deep: { f: () => 1 } }],
    [
      "a throwing toJSON",
      {
        toJSON: () => {
          throw null;
        },
      },
    ],
    ["over 50 MB", "x".repeat(52_428_800)],
  ];

  test.each(results)("a result that is no JSON, %s, fails the attempt", async (_what, value) => {
    const bench = await open();
    const queue = bench.queue();
    const worker = bench.worker(() => value);
    const job = await queue.add("x", {});
    await until("it is failed", async () => (await queue.getJobCounts()).failed === 1);
    expect((await queue.getJob(job.id))?.failedReason).toContain("result");
    await worker.close();
  });

  test("undefined is stored as absent, null as null", async () => {
    const bench = await open();
    const queue = bench.queue();
    bench.worker((job) => (job.name === "null" ? null : undefined));
    const [none, nil] = [await queue.add("none", {}), await queue.add("null", {})];
    await until("both are done", async () => (await bench.completed()) === 2);
    expect(await bench.client.hexists(bench.key(`job:${none.id}`), "returnvalue")).toBe(0);
    expect((await queue.getJob(none.id))?.returnvalue).toBe(undefined);
    expect((await queue.getJob(nil.id))?.returnvalue).toBe(null);
  });

  test("an unrecoverable error ends the job at once, of any copy of the class", async () => {
    const bench = await open();
    const queue = bench.queue();
    const foreign = Object.assign(new Error("foreign"), { name: "UnrecoverableError" });
    bench.worker((job) => {
      throw job.name === "own" ? new UnrecoverableError("own") : foreign;
    });
    const jobs = [
      await queue.add("own", {}, { attempts: 9 }),
      await queue.add("f", {}, { attempts: 9 }),
    ];
    await until("both are failed", async () => (await queue.getJobCounts()).failed === 2);
    for (const { id } of jobs) expect((await queue.getJob(id))?.attemptsMade).toBe(1);
  });

  test("large results do not travel in one call", async () => {
    const bench = await open();
    const queue = bench.queue({ defaultJobOptions: { removeOnComplete: 3 } });
    const text = "r".repeat(3_000_000);
    const worker = bench.worker(() => text, { concurrency: 12 });
    await queue.addBulk(Array.from({ length: 24 }, (_, n) => ({ name: "x", data: n })));
    const done: unknown[] = [];
    worker.on("completed", (job) => done.push(job.id));
    await until("all are done", () => done.length === 24);
    await worker.close();
  });
});
