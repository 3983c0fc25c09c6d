import { sharedServer } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { DelayedError, RateLimitError, type Telemetry } from "../../src/index.js";
import { Bench, gate } from "../support/bench.js";
import { contextOf, MemoryTelemetry, type NotedSpan } from "../support/telemetry.js";
import { refusal, until } from "../support/until.js";

const open = async (): Promise<Bench> => Bench.on((await sharedServer("redis")).url);

/** One telemetry for both sides, as in a process that adds and works. */
async function openBoth(): Promise<{ bench: Bench; telemetry: MemoryTelemetry }> {
  return { bench: await open(), telemetry: new MemoryTelemetry() };
}

const ended = (spans: readonly NotedSpan[], count: number) => () =>
  spans.length === count && spans.every(({ ends }) => ends.length === 1);

/** Waits until that many runs have ended. */
async function runs(telemetry: MemoryTelemetry, count: number): Promise<NotedSpan[]> {
  await until(`${count} runs ended`, () => ended(telemetry.of("consumer"), count)());
  return telemetry.of("consumer");
}

describe("a job that is added and done", () => {
  test("has a span on each side, the second from the first, and its numbers", async () => {
    const { bench, telemetry } = await openBoth();
    const queue = bench.queue({ telemetry });
    let within: NotedSpan | undefined;
    bench.worker(
      async () => {
        await Promise.resolve();
        within = telemetry.active;
      },
      { telemetry, name: "w1" },
    );
    const job = await queue.add("mail", { to: "ann" }, { attempts: 2, delay: 10 });
    const [run] = await runs(telemetry, 1);
    const [add] = telemetry.of("producer");
    const common = {
      "messaging.system": "echomq",
      "messaging.destination.name": bench.name,
      "echomq.job.name": "mail",
    };
    expect(add).toMatchObject({
      name: `add ${bench.name}`,
      attributes: {
        ...common,
        "messaging.operation.name": "add",
        "messaging.operation.type": "send",
      },
      ends: [{ attributes: { "messaging.message.id": job.id } }],
    });
    expect(run).toMatchObject({
      name: `process ${bench.name}`,
      parent: add?.own,
      attributes: {
        ...common,
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.message.id": job.id,
        "messaging.client.id": "w1",
        "echomq.job.attempt": 1,
      },
      ends: [{ attributes: { "echomq.job.outcome": "completed" } }],
    });
    expect(within).toBe(run);
    expect(Object.fromEntries(telemetry.counts)).toEqual({
      "echomq.jobs.added": 1,
      "echomq.jobs.completed": 1,
    });
    expect(telemetry.records.map(({ name }) => name)).toEqual([
      "messaging.client.operation.duration",
      "echomq.job.wait",
      "messaging.process.duration",
    ]);
    for (const { seconds } of telemetry.records) expect(seconds).toBeGreaterThanOrEqual(0);
  });

  test("shows nothing of it in its options, for whoever adds, reads and runs it", async () => {
    const { bench, telemetry } = await openBoth();
    const queue = bench.queue({ telemetry });
    const seen: unknown[] = [];
    // A worker without a telemetry of its own.
    bench.worker((job) => void seen.push(job.opts));
    const job = await queue.add("mail", {}, { attempts: 2 });
    await until("it ran", () => seen.length === 1);
    seen.push(job.opts, (await queue.getJob(job.id))?.opts, JSON.parse(JSON.stringify(job)).opts);
    expect(seen).toEqual(Array(4).fill({ attempts: 2 }));
    const stored = await bench.client.hget(bench.key(`job:${job.id}`), "opts");
    expect(JSON.parse(stored ?? "")).toEqual({
      attempts: 2,
      tm: JSON.stringify(telemetry.of("producer")[0]?.own),
    });
  });

  test("writes nothing into jobs without a telemetry", async () => {
    const bench = await open();
    const job = await bench.queue().add("mail", {}, { attempts: 2 });
    expect(await bench.client.hget(bench.key(`job:${job.id}`), "opts")).toBe('{"attempts":2}');
  });

  test("adding from a handler goes on from its run", async () => {
    const { bench, telemetry } = await openBoth();
    const queue = bench.queue({ telemetry });
    bench.worker(async (job) => void (job.name === "first" && (await queue.add("second", {}))), {
      telemetry,
    });
    await queue.add("first", {});
    const [first, second] = await runs(telemetry, 2);
    const [, add] = telemetry.of("producer");
    expect(add?.within).toBe(first);
    expect(second?.parent).toEqual(add?.own);
  });
});

describe("adding many", () => {
  test("has a span for each job, and one for the call that is linked to them", async () => {
    const { bench, telemetry } = await openBoth();
    const queue = bench.queue({ telemetry });
    const names = ["a", "b", "a"];
    const jobs = await queue.addBulk(names.map((name) => ({ name, data: {} })));
    bench.worker(() => undefined, { telemetry });
    const ran = await runs(telemetry, 3);
    const created = telemetry.of("producer");
    const [sent, ...none] = telemetry.of("client");
    expect(none).toEqual([]);
    expect(sent).toMatchObject({
      name: `addBulk ${bench.name}`,
      links: created.map(({ own }) => own),
      attributes: { "messaging.operation.type": "send", "messaging.batch.message_count": 3 },
    });
    expect(created).toMatchObject(
      jobs.map(({ id, name }) => ({
        name: `create ${bench.name}`,
        attributes: { "messaging.operation.type": "create", "echomq.job.name": name },
        ends: [{ attributes: { "messaging.message.id": id } }],
      })),
    );
    expect(ran.map(({ parent }) => parent)).toEqual(created.map(({ own }) => own));
    expect(telemetry.counts.get("echomq.jobs.added")).toBe(3);
    const durations = telemetry.records.filter(({ name }) => name.startsWith("messaging.client"));
    expect(durations).toMatchObject([{ attributes: { "messaging.operation.name": "addBulk" } }]);
  });

  test("links are bounded, contexts are not, and nothing is no call", async () => {
    const { bench, telemetry } = await openBoth();
    const queue = bench.queue({ telemetry });
    expect(await queue.addBulk([])).toEqual([]);
    expect(telemetry.spans).toEqual([]);
    const jobs = await queue.addBulk(Array.from({ length: 600 }, () => ({ name: "x", data: {} })));
    expect(telemetry.of("client")[0]?.links).toHaveLength(128);
    const stored = await bench.client.hget(bench.key(`job:${jobs.at(-1)?.id}`), "opts");
    expect(stored).toContain(telemetry.of("producer").at(-1)?.own.traceparent);
  });

  test("a job that stands already is told as such", async () => {
    const { bench, telemetry } = await openBoth();
    const queue = bench.queue({ telemetry });
    const opts = { jobId: "one" };
    await queue.add("x", {}, opts);
    await queue.add("x", {}, opts);
    await queue.addBulk([
      { name: "x", data: {}, opts },
      { name: "y", data: {} },
    ]);
    expect(Object.fromEntries(telemetry.counts)).toEqual({
      "echomq.jobs.added": 2,
      "echomq.jobs.duplicated": 2,
    });
    const told = telemetry.of("producer").map(({ ends }) => ends[0]?.attributes);
    expect(told.map((one) => one?.["echomq.job.duplicate"])).toEqual([
      undefined,
      true,
      true,
      undefined,
    ]);
  });

  test("what is refused ends its spans with the error, and counts nothing", async () => {
    const { bench, telemetry } = await openBoth();
    const queue = bench.queue({ telemetry });
    await queue.setMaxLength(1);
    const jobs = ["a", "b"].map((name) => ({ name, data: {} }));
    expect(await refusal(queue.addBulk(jobs))).toMatchObject({ code: "EMQFULL" });
    await queue.add("a", {});
    expect(await refusal(queue.add("b", {}))).toMatchObject({ code: "EMQFULL" });
    expect(await refusal(queue.add("", {}))).toMatchObject({ code: "VALIDATION" });
    const failed = { attributes: { "error.type": "EMQFULL" }, error: { type: "EMQFULL" } };
    expect(telemetry.spans.map(({ kind, ends }) => [kind, ends.length])).toEqual([
      ["producer", 1],
      ["producer", 1],
      ["client", 1],
      ["producer", 1],
      ["producer", 1],
    ]);
    expect(telemetry.spans.filter(({ ends }) => ends[0]?.error)).toMatchObject([
      { kind: "producer", ends: [failed] },
      { kind: "producer", ends: [failed] },
      { kind: "client", ends: [failed] },
      { kind: "producer", ends: [failed] },
    ]);
    expect(Object.fromEntries(telemetry.counts)).toEqual({ "echomq.jobs.added": 1 });
  });
});

describe("a run that does not complete", () => {
  test("fails with its exception; the retry keeps the trace, and has no time of waiting", async () => {
    const { bench, telemetry } = await openBoth();
    const queue = bench.queue({ telemetry });
    bench.worker(
      (job) => {
        if (job.attemptsMade === 0) throw new TypeError("not yet");
        throw Object.assign(new Error("never"), { name: "UnrecoverableError" });
      },
      { telemetry },
    );
    await queue.add("x", {}, { attempts: 5, backoff: 5 });
    const [first, second] = await runs(telemetry, 2);
    const { own } = telemetry.of("producer")[0] as NotedSpan;
    expect(first).toMatchObject({ parent: own, attributes: { "echomq.job.attempt": 1 } });
    expect(second).toMatchObject({ parent: own, attributes: { "echomq.job.attempt": 2 } });
    expect(telemetry.outcomes).toEqual(["retried", "failed"]);
    expect(first?.ends[0]).toMatchObject({
      attributes: { "error.type": "TypeError" },
      error: { type: "TypeError", message: "not yet", stack: expect.stringContaining("not yet") },
    });
    expect(second?.ends[0]?.error).toMatchObject({ type: "UnrecoverableError", message: "never" });
    expect(Object.fromEntries(telemetry.counts)).toEqual({
      "echomq.jobs.added": 1,
      "echomq.jobs.retried": 1,
      "echomq.jobs.failed": 1,
    });
    const durations = telemetry.records.filter(({ name }) => name === "messaging.process.duration");
    expect(durations.map(({ attributes }) => attributes["error.type"])).toEqual([
      "TypeError",
      "UnrecoverableError",
    ]);
    expect(telemetry.records.filter(({ name }) => name === "echomq.job.wait")).toHaveLength(1);
  });

  test("moves, is given back, and completes: three runs without an error", async () => {
    const { bench, telemetry } = await openBoth();
    const queue = bench.queue({ telemetry });
    const worker = bench.worker(
      async () => {
        const { length } = telemetry.of("consumer");
        if (length === 1) throw new DelayedError(5);
        if (length === 2) throw new RateLimitError(5);
      },
      { telemetry },
    );
    await queue.add("x", {});
    const ran = await runs(telemetry, 3);
    expect(telemetry.outcomes).toEqual(["moved", "released", "completed"]);
    expect(ran.every(({ ends }) => ends[0]?.error === undefined)).toBe(true);
    expect(new Set(ran.map(({ parent }) => parent?.traceparent)).size).toBe(1);
    expect(telemetry.counts.get("echomq.jobs.moved")).toBe(1);
    expect(telemetry.counts.get("echomq.jobs.released")).toBe(1);
    await worker.close();
  });

  test("cancelled, too long, or lost: its span ends though its handler goes on", async () => {
    const { bench, telemetry } = await openBoth();
    const queue = bench.queue({ telemetry });
    const door = gate();
    const worker = bench.worker(() => door.opened, {
      telemetry,
      concurrency: 3,
      lockDuration: 400,
      stalledInterval: 3_600_000,
    });
    const cancelled = await queue.add("cancelled", {});
    await queue.add("long", {}, { timeout: 20 });
    const stolen = await queue.add("stolen", {});
    await until("all run", () => telemetry.of("consumer").length === 3);
    await bench.client.hset(bench.key("owners"), stolen.id, "1:thief!");
    await cancelled.cancel("enough");
    const ran = await runs(telemetry, 3);
    const told = ran.map(({ attributes, ends }) => [
      attributes["echomq.job.name"],
      ends[0]?.attributes["echomq.job.outcome"],
      ends[0]?.error?.type,
    ]);
    expect(told).toEqual([
      ["cancelled", "failed", "CANCELLED"],
      ["long", "failed", "JOB_TIMEOUT"],
      ["stolen", "lost", "LEASE_LOST"],
    ]);
    expect(telemetry.counts.get("echomq.jobs.lost")).toBe(1);
    expect(telemetry.counts.get("echomq.jobs.failed")).toBe(2);
    door.open();
    await worker.close();
    expect(ran.map(({ ends }) => ends.length)).toEqual([1, 1, 1]);
  });

  test("is given back by a worker that closes, and its span ends once", async () => {
    const { bench, telemetry } = await openBoth();
    const queue = bench.queue({ telemetry });
    const door = gate();
    const worker = bench.worker(() => door.opened, { telemetry });
    await queue.add("x", {});
    await until("it runs", () => telemetry.of("consumer").length === 1);
    await worker.close({ timeout: 0 });
    expect(telemetry.outcomes).toEqual(["released"]);
    door.open();
    bench.worker(() => undefined, { telemetry });
    const [first, second] = await runs(telemetry, 2);
    expect(second?.parent).toEqual(first?.parent);
    expect(telemetry.outcomes).toEqual(["released", "completed"]);
  });

  test("has a span where it failed without running", async () => {
    const { bench, telemetry } = await openBoth();
    const queue = bench.queue({ telemetry });
    const cancelled = await queue.add("cancelled", {});
    await queue.add("late", {}, { ttl: 1 });
    await cancelled.cancel("never mind");
    await new Promise((resolve) => setTimeout(resolve, 20));
    bench.worker(() => undefined, { telemetry });
    const ran = await runs(telemetry, 2);
    const told = ran.map(({ attributes, ends }) => [
      attributes["echomq.job.name"],
      ends[0]?.attributes["echomq.job.outcome"],
      ends[0]?.error?.type,
    ]);
    expect(told.sort()).toEqual([
      ["cancelled", "failed", "CANCELLED"],
      ["late", "failed", "EXPIRED"],
    ]);
    const parents = ran.map(({ parent }) => parent?.traceparent).sort();
    expect(parents).toEqual(
      telemetry
        .of("producer")
        .map(({ own }) => own.traceparent)
        .sort(),
    );
    expect(telemetry.records.map(({ name }) => name)).not.toContain("messaging.process.duration");
  });

  test("whose worker is gone is counted as stalled by the one that finds it", async () => {
    const { bench, telemetry } = await openBoth();
    const queue = bench.queue();
    const job = await queue.add("x", {});
    const dead = bench.worker(() => gate().opened, { lockDuration: 200 });
    await until("it runs", () => dead.active === 1);
    // Its lease ends long before a renewal can know that it is another's.
    await bench.client.hset(bench.key("owners"), job.id, "1:dead!");
    bench.worker(() => undefined, { telemetry, lockDuration: 200, stalledInterval: 100 });
    await runs(telemetry, 1);
    expect(telemetry.counts.get("echomq.jobs.stalled")).toBe(1);
    expect(telemetry.of("consumer")[0]).not.toHaveProperty("parent");
  });
});

describe("the context of a job", () => {
  test("goes on through a dead letter and back", async () => {
    const { bench, telemetry } = await openBoth();
    const dead = `${bench.name}-dead`;
    const queue = bench.queue({ telemetry });
    let broken = true;
    bench.worker(
      () => {
        if (broken) throw new Error("no luck");
      },
      { telemetry, deadLetter: { queue: dead } },
    );
    await queue.add("x", {}, { removeOnFail: true });
    const letters = bench.queue({}, dead);
    await until("the letter came", async () => (await letters.getWaitingCount()) === 1);
    broken = false;
    await letters.redrive();
    const ran = await runs(telemetry, 2);
    const { own } = telemetry.of("producer")[0] as NotedSpan;
    expect(ran.map(({ parent }) => parent)).toEqual([own, own]);
    expect(telemetry.outcomes).toEqual(["failed", "completed"]);
  });

  test.each([
    ["a number", 7],
    ["an array", [contextOf(1)]],
    ["an object", contextOf(1)],
    ["text", "hello"],
    ["a megabyte", "x".repeat(1_000_000)],
    ["JSON of its own", JSON.stringify({ traceparent: { toString: 1 } })],
  ])("is ignored where %s stands for it", async (_what, tm) => {
    const { bench, telemetry } = await openBoth();
    const queue = bench.queue();
    const job = await queue.add("x", {}, { delay: 3_600_000 });
    const opts = JSON.stringify({ tm, attempts: 2 });
    await bench.client.hset(bench.key(`job:${job.id}`), "opts", opts);
    await job.promote();
    const seen: unknown[] = [];
    bench.worker((one) => void seen.push(one.opts), { telemetry });
    const [run] = await runs(telemetry, 1);
    expect(run).not.toHaveProperty("parent");
    expect(seen).toEqual([{ attempts: 2 }]);
    expect(telemetry.outcomes).toEqual(["completed"]);
  });
});

describe("a telemetry that throws", () => {
  const boom = (): never => {
    throw new Error("boom");
  };
  const span = { context: boom, run: boom, end: boom };
  const kinds: readonly [string, Telemetry][] = [
    ["in every method", { startSpan: boom, count: boom, record: boom }],
    ["in every span", { startSpan: () => span, count: boom, record: boom }],
    [
      "later",
      {
        startSpan: (async () => boom()) as never,
        count: async () => boom(),
        record: async () => boom(),
      },
    ],
  ];

  test.each(kinds)("%s hurts no job, and is told once by each", async (_how, telemetry) => {
    const bench = await open();
    const warnings: Error[] = [];
    const warned = (warning: Error & { code?: string }): void => {
      if (warning.code === "TELEMETRY") warnings.push(warning);
    };
    process.on("warning", warned);
    onTestFinished(() => void process.off("warning", warned));
    const queue = bench.queue({ telemetry });
    const ran: string[] = [];
    const worker = bench.worker(
      (job) => {
        ran.push(job.name);
        if (job.name === "bad") throw new Error("its own");
        return job.name;
      },
      { telemetry },
    );
    const errors: { code: string }[] = [];
    worker.on("error", (error) => void errors.push(error as never));
    const good = await queue.add("good", {});
    const [bad, other] = await queue.addBulk(["bad", "other"].map((name) => ({ name, data: {} })));
    await until("all ended", async () => (await queue.getJobCounts()).failed === 1);
    await until("all ended", async () => (await bench.completed()) === 2);
    expect(ran).toEqual(["good", "bad", "other"]);
    expect((await queue.getJob(good.id))?.returnvalue).toBe("good");
    expect((await queue.getJob(bad?.id ?? ""))?.failedReason).toBe("its own");
    expect((await queue.getJob(other?.id ?? ""))?.returnvalue).toBe("other");
    await worker.close();
    const told = { code: "TELEMETRY", message: expect.stringMatching(/boom|promise/) };
    expect(errors).toMatchObject([told]);
    await until("the queue's was told", () => warnings.length > 0);
    expect(warnings).toMatchObject([told]);
  });
});
