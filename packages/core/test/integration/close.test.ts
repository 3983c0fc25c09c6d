import { createServer, type Server, type Socket } from "node:net";
import { freePort } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { Queue, Worker } from "../../src/index.js";
import { Bench, begunBy, gate } from "../support/bench.js";
import { startChild } from "../support/child.js";
import { lanesOpen } from "../support/connections.js";
import { refusal, settles, until } from "../support/until.js";

/** What closing may take beyond its timeout, with room for a busy machine: a hang is longer. */
const BOUND_MS = 14_000;

/** A server that accepts connections and never answers. */
async function silentServer(): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const bound = server.address();
  return `redis://127.0.0.1:${typeof bound === "object" ? bound?.port : 0}`;
}

/** Connecting and retrying end soon, so a test need not wait for them. */
const QUICK = { retryTime: 500, commandTimeout: 500 } as const;

const never = (): Promise<never> => new Promise(() => undefined);

describe("close settles", () => {
  test("where nothing listens, and the objects refuse what follows", async () => {
    const connection = `redis://127.0.0.1:${await freePort()}`;
    const worker = new Worker("q", never, { connection, ...QUICK });
    worker.on("error", () => undefined);
    const queue = new Queue("q", { connection, ...QUICK });
    const running = refusal(worker.run());
    const add = refusal(queue.add("x", {}));
    await settles("Worker.close", worker.close(), BOUND_MS);
    await settles("Queue.close", queue.close(), BOUND_MS + 5_000);
    expect(await settles("run", running, BOUND_MS)).toMatchObject({ code: "CLOSED" });
    expect((await settles("add", add, BOUND_MS)).code).toMatch(/^(CLOSED|CONNECTION_LOST)$/);
    expect(await refusal(queue.add("x", {}))).toMatchObject({ code: "CLOSED" });
    expect(await refusal(queue.getJob("x"))).toMatchObject({ code: "CLOSED" });
    expect(await refusal(worker.run())).toMatchObject({ code: "CLOSED" });
  });

  test("before anything was done, and opens no connection for it", async () => {
    const connection = `redis://127.0.0.1:${await freePort()}`;
    const worker = new Worker("q", never, { connection, autorun: false });
    const closed: string[] = [];
    worker.on("closed", () => closed.push("closed"));
    await settles("Queue.close", new Queue("q", { connection }).close(), BOUND_MS);
    await settles("Worker.close", Promise.all([worker.close(), worker.close()]), BOUND_MS);
    expect(closed).toEqual(["closed"]);
  });

  test("while the server accepts and never answers", async () => {
    const connection = await silentServer();
    const worker = new Worker("q", never, { connection, ...QUICK });
    worker.on("error", () => undefined);
    const queue = new Queue("q", { connection, ...QUICK });
    const waiting = refusal(queue.waitUntilReady());
    await settles("Worker.close", worker.close(), BOUND_MS);
    await settles("Queue.close", queue.close(), BOUND_MS);
    expect((await settles("the wait", waiting, BOUND_MS)).code).toMatch(/CLOSED|CONNECTION_LOST/);
  });

  test("at any moment of connecting, and leaves no connection", async () => {
    const bench = await Bench.own();
    for (let turns = 0; turns < 60; turns += 1) {
      const worker = new Worker(bench.name, never, { connection: bench.url });
      worker.on("error", () => undefined);
      for (let turn = 0; turn < turns * 3; turn += 1) await new Promise(setImmediate);
      await settles("Worker.close", worker.close({ timeout: 0 }), BOUND_MS);
    }
    await until("no connection is left", async () => (await lanesOpen(bench.client)) === 0);
  });

  test("while idle and blocked, and leaves no connection", async () => {
    const bench = await Bench.own();
    const queue = bench.queue();
    await queue.add("x", {});
    const worker = bench.worker(() => undefined, { concurrency: 3 });
    await until("the job is done", async () => (await bench.completed()) === 1);
    await until("it waits", async () =>
      /cmd=bzpopmin/.test(String(await bench.client.client("LIST"))),
    );
    await settles("Worker.close", worker.close(), BOUND_MS);
    await settles("Queue.close", queue.close(), BOUND_MS);
    await until("no connection is left", async () => (await lanesOpen(bench.client)) === 0);
    expect(await bench.client.hlen("{emq}:nodes")).toBe(0);
  });

  test("after the adds on their way, which all arrive", async () => {
    const bench = await Bench.own();
    const queue = bench.queue();
    const jobs = Array.from({ length: 1_700 }, (_, n) => ({ name: "x", data: n }));
    const bulk = queue.addBulk(jobs);
    const adds = Array.from({ length: 600 }, (_, n) => queue.add("y", n));
    await settles("Queue.close", queue.close(), BOUND_MS);
    expect((await bulk).length + (await Promise.all(adds)).length).toBe(2_300);
    expect(await bench.client.llen(bench.key("wait"))).toBe(2_300);
  });

  test("after the jobs have ended, where they end in time", async () => {
    const bench = await Bench.own();
    const queue = bench.queue();
    const door = gate();
    await queue.addBulk([1, 2, 3].map((n) => ({ name: "x", data: n })));
    const worker = bench.worker(() => door.opened, { concurrency: 2 });
    const begun = begunBy(worker);
    await until("two run", () => begun() === 2);
    const closing = worker.close();
    door.open();
    await settles("Worker.close", closing, BOUND_MS);
    expect(await queue.getJobCounts()).toMatchObject({ completed: 2, active: 0, waiting: 1 });
  });

  test.each([1, 12, 300])(
    "giving %i unfinished jobs back to the head of the line, in order",
    async (concurrency) => {
      const bench = await Bench.own();
      const queue = bench.queue();
      const total = concurrency + 20;
      const jobs = await queue.addBulk(
        Array.from({ length: total }, (_, n) => ({ name: "x", data: n, opts: { attempts: 1 } })),
      );
      let begun = 0;
      const reasons: unknown[] = [];
      const failures: unknown[] = [];
      const worker = bench.worker(
        async (_job, { signal }) => {
          begun += 1;
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          reasons.push((signal.reason as { code?: string }).code);
          throw signal.reason;
        },
        { concurrency },
      );
      worker.on("failed", (job) => failures.push(job.id));
      await until("all slots run", () => begun === concurrency);
      await settles("Worker.close", worker.close({ timeout: 50 }), BOUND_MS);
      expect(reasons).toEqual(Array(concurrency).fill("WORKER_CLOSING"));
      expect(failures).toEqual([]);
      const ids = jobs.map(({ id }) => id);
      expect((await bench.client.lrange(bench.key("wait"), 0, -1)).reverse()).toEqual(ids);
      expect(await queue.getJobCounts()).toMatchObject({ active: 0, waiting: total, failed: 0 });
      const order: string[] = [];
      bench.worker((job) => void order.push(job.id));
      await until("another worker has done all", () => order.length === total);
      expect(order).toEqual(ids);
      expect(await queue.getJob(ids[0] ?? "")).toMatchObject({
        attemptsMade: 1,
        stalledCounter: 0,
      });
    },
  );

  test("with a timeout of 0 at any moment, leaving no job active", async () => {
    const bench = await Bench.own();
    const queue = bench.queue();
    await queue.addBulk(Array.from({ length: 40 }, (_, n) => ({ name: "x", data: n })));
    for (let turns = 0; turns < 40; turns += 1) {
      const worker = bench.worker(never, { concurrency: 15 });
      await worker.waitUntilReady();
      for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
      await settles("Worker.close", worker.close({ timeout: 0 }), BOUND_MS);
      expect(await queue.getJobCounts()).toMatchObject({ active: 0, waiting: 40 });
    }
  });

  test.each(["running", "idle"])("when the server is gone, %s", async (state) => {
    const bench = await Bench.own();
    const queue = bench.queue(QUICK);
    if (state === "running") await queue.add("x", {});
    else await queue.pause();
    const worker = bench.worker(never);
    const begun = begunBy(worker);
    await worker.waitUntilReady();
    if (state === "running") await until("it runs", () => begun() === 1);
    await bench.server.kill();
    await settles("Worker.close", worker.close({ timeout: 100 }), BOUND_MS);
    await settles("Queue.close", queue.close(), BOUND_MS);
  });

  test.each(["SIGSTOP", "CLIENT PAUSE"])(
    "when the server has stopped answering by %s",
    async (how) => {
      const bench = await Bench.own();
      const queue = bench.queue(QUICK);
      await queue.addBulk([1, 2].map((n) => ({ name: "x", data: n })));
      const door = gate();
      const worker = bench.worker(() => door.opened);
      const begun = begunBy(worker);
      await until("it runs", () => begun() === 1);
      if (how === "SIGSTOP") await bench.server.kill("SIGSTOP");
      else await bench.client.call("CLIENT", "PAUSE", "60000", "ALL");
      door.open();
      const add = refusal(queue.add("late", {}));
      await settles("Worker.close", worker.close({ timeout: 100 }), BOUND_MS);
      await settles("Queue.close", queue.close(), BOUND_MS + 5_000);
      expect((await settles("add", add)).code).toMatch(/CONNECTION_LOST|TIMEOUT/);
      if (how === "SIGSTOP") await bench.server.kill("SIGCONT");
    },
  );

  test("while paused, resuming does not wake it again", async () => {
    const bench = await Bench.own();
    const queue = bench.queue();
    const ran: string[] = [];
    const worker = bench.worker((job) => void ran.push(job.id));
    await worker.waitUntilReady();
    worker.pause();
    const closing = worker.close();
    worker.resume();
    await closing;
    await queue.add("x", {});
    expect(await queue.getJobCounts()).toMatchObject({ waiting: 1, active: 0 });
    expect(ran).toEqual([]);
  });

  test.each([-1, 1.5, Number.NaN, "5", 2 ** 53])("a timeout of %s is refused", async (timeout) => {
    const worker = new Worker("q", never, { connection: "redis://127.0.0.1:1", autorun: false });
    expect(await refusal(() => worker.close({ timeout: timeout as number }))).toMatchObject({
      code: "VALIDATION",
      option: "options.timeout",
    });
    await worker.close();
  });
});

describe("a process that closed ends by itself", () => {
  test.each(["idle", "running"])("%s", async (state) => {
    const bench = await Bench.own();
    const child = startChild("closer", {
      url: bench.url,
      name: bench.name,
      timeout: state === "idle" ? 5_000 : 50,
      options: { concurrency: 2 },
    });
    const queue = bench.queue();
    if (state === "running") await queue.add("stuck", {});
    await until("it works", () => child.messages.includes("ready"));
    await until("its own job is done", async () => (await bench.completed()) === 1);
    if (state === "running") {
      await until(
        "it runs",
        () => child.messages.filter((m) => m.startsWith("begun")).length === 2,
      );
    }
    child.send("close");
    expect(await settles("its end", child.ended)).toBe(0);
    const waiting = state === "running" ? 1 : 0;
    expect(await queue.getJobCounts()).toMatchObject({ active: 0, waiting, failed: 0 });
  });

  test.each(["never there", "gone"])("server %s", async (state) => {
    const bench = await Bench.own();
    if (state === "never there") await bench.server.kill();
    const child = startChild("closer", {
      url: bench.url,
      name: bench.name,
      timeout: 50,
      options: {},
    });
    await until("it is up", () => child.messages.includes("up"));
    if (state === "gone") {
      await until("it works", () => child.messages.includes("ready"));
      await bench.server.kill();
    }
    child.send("close");
    expect(await settles("its end", child.ended)).toBe(0);
  });
});
