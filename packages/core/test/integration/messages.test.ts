import { sharedServer } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { type EchoMQError, isEchoMQError, Queue, QueueEvents, Worker } from "../../src/index.js";
import { Bench, gate } from "../support/bench.js";
import { refusal, until } from "../support/until.js";

async function open(): Promise<Bench> {
  const { url } = await sharedServer("redis");
  return Bench.on(url);
}

async function said(work: Promise<unknown>): Promise<string> {
  return (await refusal(work)).message;
}

describe("an error names the operation, the job, the queue, and says what to do", () => {
  test("of jobs that stand in another state", async () => {
    const bench = await open();
    const queue = bench.queue();
    const at = (op: string, id: string) => `${op}: job "${id}" of queue "${bench.name}": `;
    const look = "; getState tells where it stands now";
    const job = await queue.add("x", {}, { jobId: "waits" });
    expect(await said(job.retry())).toBe(
      `${at("Job.retry", "waits")}EMQSTATE the job is not failed${look}`,
    );
    expect(await said(job.promote())).toBe(
      `${at("Job.promote", "waits")}EMQSTATE the job is not delayed${look}`,
    );
    expect(await said(job.changeDelay(5))).toBe(
      `${at("Job.changeDelay", "waits")}EMQSTATE the job is not delayed${look}`,
    );
    const { opened, open: release } = gate();
    const worker = bench.worker(() => opened);
    await until("it runs", () => job.isActive());
    expect(await said(queue.remove("waits"))).toBe(
      `${at("Queue.remove", "waits")}EMQSTATE the job is active; cancel it, or wait until it has ended`,
    );
    expect(await said(job.changePriority({ priority: 1 }))).toBe(
      `${at("Job.changePriority", "waits")}EMQSTATE the job is neither in line nor delayed${look}`,
    );
    expect(await said(queue.obliterate())).toBe(
      `Queue.obliterate: queue "${bench.name}": EMQSTATE jobs are active: 1; let them end, or call obliterate with force`,
    );
    release();
    await until("it has ended", () => job.isCompleted());
    expect(await said(job.cancel())).toBe(
      `${at("Job.cancel", "waits")}EMQSTATE the job is completed; only a job that has not ended can be cancelled`,
    );
    expect(await said(job.moveToWait())).toBe(
      `${at("Job.moveToWait", "waits")}it does not run here: only the job that its own handler was given can move itself`,
    );
    await worker.close();
  });

  test("of jobs that are gone, with an id in few characters", async () => {
    const bench = await open();
    const jobId = "order:".padEnd(500, "x");
    const job = await bench.queue().add("x", {}, { jobId });
    await job.remove();
    const error = (await refusal(job.updateProgress(1))) as EchoMQError;
    expect(error.message).toBe(
      `Job.updateProgress: job "${jobId.slice(0, 63)}…" of queue "${bench.name}": ` +
        "EMQMISSING no such job; it was removed, or has ended and was not kept",
    );
    expect(error).toMatchObject({ op: "Job.updateProgress", queue: bench.name, jobId });
    const others = [
      () => job.updateData(1),
      () => job.log("x"),
      () => job.retry(),
      () => job.promote(),
    ];
    for (const work of others) {
      expect(await said(work())).toContain(`of queue "${bench.name}": EMQMISSING no such job; it`);
    }
  });

  test("of a full queue", async () => {
    const bench = await open();
    const queue = bench.queue();
    await queue.setMaxLength(1);
    await queue.add("x", {});
    const full =
      "EMQFULL the queue is full: its limit is 1; add it later, or raise the limit with setMaxLength";
    expect(await said(queue.add("x", {}))).toBe(`Queue.add: queue "${bench.name}": ${full}`);
    expect(await said(queue.add("x", {}, { jobId: "one" }))).toBe(
      `Queue.add: job "one" of queue "${bench.name}": ${full}`,
    );
    expect(await said(queue.addBulk([{ name: "x", data: {} }]))).toBe(
      `Queue.addBulk: queue "${bench.name}": ${full}`,
    );
  });

  test("of one job of many, with its place", async () => {
    const queue = (await open()).queue();
    const good = { name: "x", data: {} };
    const bad = (job: object) => said(queue.addBulk([good, good, { ...good, ...job } as never]));
    expect(await bad({ data: { n: Number.NaN } })).toMatch(/^jobs\[2\]\.data: is not JSON/);
    expect(await bad({ name: "" })).toBe("jobs[2].name: must not be empty");
    expect(await bad({ opts: { attempt: 3 } })).toBe(
      "jobs[2].opts.attempt: is not an option; did you mean attempts?",
    );
    expect(await queue.count()).toBe(0);
  });

  test("of a payload, with the place of what JSON does not keep", async () => {
    const queue = (await open()).queue();
    const loop: { next?: unknown; list: unknown[] } = { list: [1, { deep: 1n }] };
    loop.next = { list: loop.list };
    const odd = {
      get broken(): never {
        throw new Error("no");
      },
    };
    for (const [data, text] of [
      [{ x: { y: [0, 1n] } }, 'property "x.y[1]" is a bigint'],
      [[[Number.NaN]], 'property "[0][0]" is NaN'],
      [{ a: () => 1 }, 'property "a" is a function'],
      [{ a: [{ b: Symbol("s") }] }, 'property "a[0].b" is a symbol'],
      [loop, 'property "list[1].deep" is a bigint'],
      [{ toJSON: () => ({ n: 1n }) }, 'property "n" is a bigint'],
      [5n, "the value is a bigint"],
      [{ n: 1n, odd }, 'property "n" is a bigint'],
    ] as const) {
      expect(await said(queue.add("x", data))).toBe(`data: is not JSON: ${text}`);
    }
    expect(await said(queue.add("x", odd))).toBe("data: is not JSON: no");
  });

  test("of a handler that was left out", () => {
    expect(() => new Worker("q", { connection: "redis://h" } as never, undefined as never)).toThrow(
      "handler: is missing: new Worker(name, handler, options)",
    );
  });

  test.each([
    [{ prefix: "bull" }, "options.prefix: is not an option; keys are emq:{queue}"],
    [
      { connection: { host: "h", maxRetriesPerRequest: null } },
      "connection.maxRetriesPerRequest: is not an option; leave it out",
    ],
    [{ connection: { url: "redis://h" } }, "connection.url: is not an option; give the URL itself"],
    [
      { defaultJobOptions: { repeat: { every: 5 } } },
      "defaultJobOptions.repeat: is not an option; job schedulers",
    ],
  ])("of an option of BullMQ, with what does its work: %j", (options, text) => {
    const make = (): unknown => new Queue("q", { connection: "redis://h", ...options } as never);
    expect(make).toThrow(text);
    expect(make).toThrow("docs/migrating.md");
  });

  test("of a wait, with the time it was given", async () => {
    const bench = await open();
    const queue = bench.queue();
    const events = bench.events();
    await events.waitUntilReady();
    const job = await queue.add("x", {}, { jobId: "slow", delay: 3_600_000 });
    const about = `of queue "${bench.name}": `;
    expect(await said(job.waitUntilFinished(events, 51))).toBe(
      `Job.waitUntilFinished: job "slow" ${about}no end within 51 ms: it has not ended, and goes on`,
    );
    const wait = { events, timeout: 52 };
    expect(await said(queue.addAndWait("x", {}, { jobId: "slow" }, wait))).toBe(
      `Queue.addAndWait: job "slow" ${about}no end within 52 ms: it has not ended, and goes on`,
    );
    await job.remove();
    expect(await said(job.waitUntilFinished(events, 5_000))).toBe(
      `Job.waitUntilFinished: job "slow" ${about}it is gone: it was removed, or had ended and was not kept`,
    );
  });

  test("of jobs fetched by hand", async () => {
    const bench = await open();
    await bench.queue().add("x", {}, { jobId: "held" });
    const worker = bench.worker(null);
    const job = await worker.getNextJob();
    await job?.moveToCompleted();
    expect(await said(job?.moveToCompleted() ?? Promise.resolve())).toBe(
      `ManualJob: job "held" of queue "${bench.name}": it was moved already: fetch another one`,
    );
    const other = bench.worker(() => undefined);
    expect(await said(other.getNextJob())).toBe(
      `Worker.getNextJob: queue "${bench.name}": getNextJob needs a worker without a handler: new Worker(name, null, options)`,
    );
    await worker.close();
    expect(await said(worker.getNextJob())).toBe(
      `Worker.run: queue "${bench.name}": it was closed; make a new one to go on`,
    );
  });

  test("of what was closed, and of a server that is away", async () => {
    const bench = await open();
    const queue = bench.queue();
    await queue.close();
    const closed = `queue "${bench.name}": it was closed; make a new one to go on`;
    expect(await said(queue.add("x", {}))).toBe(`Queue.add: ${closed}`);
    expect(await said(queue.getJobs())).toBe(`Queue.getJobs: ${closed}`);
    const away = { connection: "redis://127.0.0.1:1", retryTime: 0, commandTimeout: 500 };
    await using lost = new Queue("mails", away);
    const error = await refusal(lost.getJobCounts());
    expect(error.message).toMatch(/^Queue\.getJobCounts: queue "mails": .*ECONNREFUSED/);
    expect(isEchoMQError(error, "CONNECTION_LOST") && error.queue).toBe("mails");
  });

  test("of a lost lease, which ends the handler", async () => {
    const bench = await open();
    const queue = bench.queue();
    const { opened, open: release } = gate();
    onTestFinished(release);
    const worker = bench.worker(() => opened);
    const lost = new Promise<EchoMQError>((resolve) => {
      worker.on("lost", (_job, error) => resolve(error));
    });
    const job = await queue.add("x", {}, { jobId: "taken" });
    await until("it runs", () => job.isActive());
    await queue.obliterate({ force: true });
    release();
    expect((await lost).message).toMatch(
      new RegExp(
        `^run: job "taken" of queue "${bench.name}": the lease was lost \\(.*\\); nothing`,
      ),
    );
  });
});

test("an error nobody listens for is printed once", async () => {
  const heard: Error[] = [];
  const listen = (warning: Error): void => void heard.push(warning);
  process.on("warning", listen);
  onTestFinished(() => void process.off("warning", listen));
  const away = { connection: "redis://127.0.0.1:1", retryTime: 0, commandTimeout: 500 };
  await using worker = new Worker("mails", () => undefined, away);
  await using events = new QueueEvents("letters", away);
  await until("both are told", () =>
    ["Worker.run", "QueueEvents.run"].every((op) =>
      heard.some(({ message }) => message.startsWith(op)),
    ),
  );
  expect([worker.isRunning(), events.lastEventId]).toEqual([false, undefined]);
  for (const warning of heard.filter(({ message }) => message.includes("ECONNREFUSED"))) {
    // Node prints the name, the message, and then `detail`, which here would be the message again.
    expect(warning).toMatchObject({ name: "ServerError", code: "CONNECTION_LOST" });
    expect("detail" in warning).toBe(false);
    expect(warning.cause).toMatchObject({ detail: expect.stringContaining("ECONNREFUSED") });
  }
});
