import { sharedServer } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { UnrecoverableError } from "../../src/index.js";
import { Bench, gate } from "../support/bench.js";
import { settles, until } from "../support/until.js";

async function open(): Promise<Bench> {
  return Bench.on((await sharedServer("redis")).url);
}

describe("concurrency", () => {
  test.each([1, 3, 25])("never more than %i handlers run, and all slots are used", async (most) => {
    const bench = await open();
    const queue = bench.queue();
    const total = most * 12;
    await queue.addBulk(
      Array.from({ length: total }, (_, n) => ({
        name: "x",
        data: n,
        opts: { attempts: 2, delay: n % 5 === 0 ? 10 : 0, priority: n % 7 === 0 ? 1 : 0 },
      })),
    );
    let running = 0;
    let peak = 0;
    let ended = 0;
    const worker = bench.worker(
      async (job) => {
        running += 1;
        peak = Math.max(peak, running);
        await new Promise((resolve) => setTimeout(resolve, 1 + ((job.data as number) % 3) * 3));
        running -= 1;
        if ((job.data as number) % 4 === 0 && job.attemptsMade === 0) throw new Error("once");
        ended += 1;
      },
      { concurrency: most },
    );
    await until("all have ended", () => ended === total);
    expect(peak).toBe(most);
    await worker.close();
    expect(await queue.getJobCounts()).toMatchObject({ completed: total, failed: 0, active: 0 });
  });

  test("a run that lost its lease keeps its slot until it ends", async () => {
    const bench = await open();
    const queue = bench.queue();
    const door = gate();
    let running = 0;
    let peak = 0;
    let begun = 0;
    const worker = bench.worker(
      async () => {
        begun += 1;
        running += 1;
        peak = Math.max(peak, running);
        if (begun === 1) await door.opened;
        running -= 1;
      },
      { lockDuration: 400 },
    );
    const lost: string[] = [];
    worker.on("lost", (job) => lost.push(job.id));
    const job = await queue.add("x", {});
    await until("it runs", () => begun === 1);
    await bench.client.hset(bench.key("owners"), job.id, "1:thief!");
    await until("it is lost", () => lost.length === 1);
    await queue.add("y", {});
    expect(await queue.getJobCounts()).toMatchObject({ waiting: 1 });
    door.open();
    await until("the other ran", () => begun === 2);
    expect(peak).toBe(1);
  });

  test("more slots than one claim may fill are filled by several", async () => {
    const bench = await open();
    const queue = bench.queue();
    const total = 2_600;
    await queue.addBulk(Array.from({ length: total }, (_, n) => ({ name: "x", data: n })));
    const door = gate();
    let running = 0;
    const worker = bench.worker(
      async () => {
        running += 1;
        await door.opened;
      },
      { concurrency: 2_500 },
    );
    await until("all slots run", () => running === 2_500);
    expect(await queue.getJobCounts()).toMatchObject({ waiting: 100, active: 2_500 });
    door.open();
    await until("all are done", async () => (await bench.completed()) === total);
    await worker.close();
  });
});

describe("pausing a worker", () => {
  test("stops claims, lets runs end, and another worker hears of new jobs at once", async () => {
    const bench = await open();
    const queue = bench.queue();
    const door = gate();
    const ran: string[] = [];
    const paused = bench.worker(async (job) => {
      ran.push(`paused ${job.data}`);
      await door.opened;
    });
    await queue.add("x", 1);
    await until("it runs", () => ran.length === 1);
    paused.pause();
    door.open();
    await until("it ended", async () => (await bench.completed()) === 1);
    await queue.addBulk([2, 3].map((n) => ({ name: "x", data: n })));
    const other = bench.worker((job) => void ran.push(`other ${job.data}`));
    await until("the other has them", () => ran.length === 3);
    expect(ran.slice(1)).toEqual(["other 2", "other 3"]);
    await other.close();
    paused.resume();
    await queue.add("x", 4);
    await until("it goes on", () => ran.length === 4);
    expect(ran[3]).toBe("paused 4");
  });

  test("a wake-up that reaches a paused worker is put back for others", async () => {
    const bench = await open();
    const queue = bench.queue();
    const ran: unknown[] = [];
    const idle = bench.worker((job) => void ran.push(`idle ${job.data}`));
    await queue.add("x", 0);
    await until("it ran", () => ran.length === 1);
    const waits = async (): Promise<boolean> =>
      /name=\S+:blocking .*cmd=bzpopmin/.test(String(await bench.client.client("LIST")));
    await until("it waits", waits);
    idle.pause();
    const job = await queue.add("x", 1);
    await until("the marker names it again", async () => {
      return (await bench.client.zscore(bench.key("marker"), job.id)) !== null;
    });
    const other = bench.worker((one) => void ran.push(one.data));
    await until("the other has it", () => ran.length === 2);
    expect(ran).toEqual(["idle 0", 1]);
    await other.close();
  });
});

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

describe("listeners", () => {
  test("that throw or reject are told as errors, and the work goes on", async () => {
    const bench = await open();
    const queue = bench.queue();
    const worker = bench.worker((job) => {
      if (job.name === "bad") throw new Error("bad");
    });
    const errors: string[] = [];
    worker.on("error", (error) => {
      errors.push(error.message);
      throw new Error("also the error listener");
    });
    worker.on("ready", () => {
      throw new Error("ready listener");
    });
    worker.on("active", () => {
      throw null;
    });
    worker.on("completed", async () => {
      throw new Error("async listener");
    });
    worker.on("failed", () => {
      throw new Error("failed listener");
    });
    worker.on("drained", () => {
      throw new Error("drained listener");
    });
    worker.on("closed", () => {
      throw new Error("closed listener");
    });
    const warnings: string[] = [];
    const heard = (warning: Error): void => void warnings.push(warning.message);
    process.on("warning", heard);
    await worker.waitUntilReady();
    await queue.add("ok", {});
    await queue.add("bad", {});
    await queue.add("ok", {});
    await until("all have ended", async () => {
      const { completed, failed } = await queue.getJobCounts();
      return completed === 2 && failed === 1;
    });
    await until("all is told", () => new Set(errors.map((text) => text.split(" ")[3])).size === 5);
    await worker.close();
    await until("the error listener is told of too", () => warnings.length > 0);
    process.off("warning", heard);
    expect(warnings[0]).toContain("also the error listener");
  });

  test("events tell the life of a job", async () => {
    const bench = await open();
    const queue = bench.queue();
    const told: string[] = [];
    const worker = bench.worker((job, { token, lease, signal }) => {
      told.push(`run ${token.length > 0} ${lease.remaining > 0} ${signal.aborted}`);
      if (job.attemptsMade === 0) throw new Error("first");
      return 7;
    });
    worker.on("ready", () => told.push("ready"));
    worker.on("active", (job) => told.push(`active ${job.attemptsMade}`));
    worker.on("completed", (job, result) => told.push(`completed ${result} ${job.returnvalue}`));
    worker.on("failed", (job, _error, retry) => told.push(`failed ${job.failedReason} ${retry}`));
    worker.on("drained", () => told.push("drained"));
    worker.on("closed", () => told.push("closed"));
    await worker.waitUntilReady();
    await queue.add("x", {}, { attempts: 2 });
    await until("it is drained", () => told.includes("drained"));
    await worker.close();
    expect(told).toEqual([
      "ready",
      "active 0",
      "run true true false",
      "failed first true",
      "active 1",
      "run true true false",
      "completed 7 7",
      "drained",
      "closed",
    ]);
  });
});

describe("what stands in Redis may be anything", () => {
  test.each([
    ["an empty hash of unknown fields", { other: "x" }],
    ["no name", { data: "{}" }],
  ])("%s: the lease is cleared and the worker goes on", async (_what, fields) => {
    const bench = await open();
    const queue = bench.queue();
    await queue.add("first", {});
    await bench.client.hset(bench.key("job:ghost"), fields);
    await bench.client.lpush(bench.key("wait"), "ghost", "nothing-at-all");
    await queue.add("last", {});
    const ran: string[] = [];
    bench.worker((job) => void ran.push(job.name), { concurrency: 2 });
    await until("the others ran", () => ran.length === 2);
    await until("no lease is left", async () => (await queue.getJobCounts()).active === 0);
  });

  test.each(["-5", "1.5", "1e300", "NaN", "9007199254740993", "0x10", " 3 ", "{}", ""])(
    "counters that read %j end their job all the same",
    async (value) => {
      const bench = await open();
      const queue = bench.queue();
      const ran: unknown[] = [];
      const odd = await queue.add("odd", {});
      await bench.client.hset(bench.key(`job:${odd.id}`), {
        atm: value,
        ats: value,
        stc: value,
        delay: value,
        priority: value,
        timestamp: value,
        opts: value,
        stacktrace: value,
        progress: value,
      });
      const worker = bench.worker((job) => {
        ran.push(job.id);
        throw new Error("no");
      });
      await until("it is failed", async () => (await queue.getJobCounts()).failed === 1);
      expect(ran.length).toBe(1);
      const job = await queue.getJob(odd.id);
      expect(Number.isSafeInteger(job?.attemptsMade)).toBe(true);
      expect(JSON.parse(JSON.stringify(job)).id).toBe(odd.id);
      await worker.close();
    },
  );

  test("stored options of other versions: what cannot be read is the default, an unknown backoff ends the job", async () => {
    const bench = await open();
    const queue = bench.queue();
    const opts = [
      '{"attempts":3,"backoff":{"type":"custom","delay":5}}',
      '{"attempts":3,"backoff":"fixed"}',
      '{"attempts":2,"backoff":{"type":"exponential","delay":-1,"jitter":7}}',
      '{"attempts":"many","removeOnFail":{"count":"x"},"keepLogs":3}',
      '{"attempts":0,"backoff":17}',
      "[1,2]",
      "not json",
      '{"attempts":2000,"backoff":{"type":"exponential","delay":0}}',
    ];
    const ids: string[] = [];
    for (const text of opts) {
      const job = await queue.add("x", {}, { delay: 1 });
      await bench.client.hset(bench.key(`job:${job.id}`), {
        opts: text,
        atm: text.includes("2000") ? 1_500 : 0,
      });
      ids.push(job.id);
    }
    bench.worker((job) => {
      if (job.attemptsMade < 1_501) throw new Error("no");
    });
    await until("all have ended", async () => {
      const { failed, completed } = await queue.getJobCounts();
      return failed === opts.length - 1 && completed === 1;
    });
    const made = await Promise.all(ids.map(async (id) => (await queue.getJob(id))?.attemptsMade));
    expect(made).toEqual([1, 1, 2, 1, 1, 1, 1, 1_502]);
    expect((await queue.getJob(ids[0] ?? ""))?.failedReason).toContain("unknown backoff type");
  });

  test("ids that no call can name stop nobody", async () => {
    const bench = await open();
    const queue = bench.queue();
    await queue.add("first", {});
    const bad = ["bad\nid", "x".repeat(600), ""];
    await bench.client.rpush(bench.key("wait"), ...bad);
    await bench.client.zadd(bench.key("marker"), 0, "bad\nid");
    const dead = await queue.add("dead", {});
    await bench.client
      .multi()
      .lrem(bench.key("wait"), 0, dead.id)
      .hset(bench.key("owners"), dead.id, "1:dead!", "wor\u0001se", "1:dead!")
      .zadd(bench.key("active"), -2, "wor\u0001se", -1, dead.id)
      .exec();
    await queue.add("last", {});
    const ran: string[] = [];
    const codes = new Set<unknown>();
    const worker = bench.worker((job) => void ran.push(job.name), {
      lockDuration: 300,
      stalledInterval: 150,
    });
    worker.on("error", (error) => codes.add((error as { code?: string }).code));
    await until("the others ran", () => ran.length === 3);
    expect(ran.sort()).toEqual(["dead", "first", "last"]);
    expect([...codes]).toEqual(["STORED_ID"]);
    await settles("close", worker.close());
  });

  test("a job removed under its run is told as lost", async () => {
    const bench = await open();
    const queue = bench.queue();
    const door = gate();
    const worker = bench.worker(() => door.opened);
    const lost: string[] = [];
    worker.on("lost", (_job, error) => lost.push((error as unknown as { loss: string }).loss));
    const job = await queue.add("x", {});
    await until("it runs", () => worker.active === 1);
    await bench.client.unlink(bench.key(`job:${job.id}`));
    door.open();
    await until("it is told", () => lost.length === 1);
    expect(lost).toEqual(["removed"]);
    expect(await queue.getJobCounts()).toMatchObject({ active: 0 });
    await settles("close", worker.close());
  });
});
