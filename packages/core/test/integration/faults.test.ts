import { dumpAll, freePort, startServer } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { Queue, Worker } from "../../src/index.js";
import { Bench, ENGINES, plainClient } from "../support/bench.js";
import { refusal, settles, until } from "../support/until.js";

const KEEP = { removeOnComplete: false, removeOnFail: false } as const;

describe.each(ENGINES)("a server that %s", (engine) => {
  test("forgets its scripts while working costs nothing", async () => {
    const bench = await Bench.own(engine);
    const queue = bench.queue({ defaultJobOptions: KEEP });
    const errors: unknown[] = [];
    const worker = bench.worker(() => new Promise((resolve) => setTimeout(resolve, 1)), {
      concurrency: 4,
    });
    worker.on("error", (error) => errors.push(error));
    let added = 0;
    while (added < 400) {
      await queue.addBulk(Array.from({ length: 20 }, (_, n) => ({ name: "x", data: n })));
      added += 20;
      await bench.client.script("FLUSH");
    }
    await until("all are done", async () => (await bench.completed()) === added);
    expect(errors).toEqual([]);
  });

  test("is emptied while working: the worker lives on and does new jobs", async () => {
    const bench = await Bench.own(engine);
    const queue = bench.queue({ defaultJobOptions: KEEP });
    const worker = bench.worker(() => new Promise((resolve) => setTimeout(resolve, 5)), {
      concurrency: 4,
      lockDuration: 500,
      stalledInterval: 200,
    });
    for (let round = 0; round < 3; round += 1) {
      await queue.addBulk(Array.from({ length: 100 }, (_, n) => ({ name: "x", data: n })));
      await until("some are done", async () => (await bench.completed()) > 5);
      await bench.client.flushall();
    }
    // Idle too: nobody adds for a while, so the worker itself must find the queue gone.
    await until(
      "it has opened the queue anew",
      async () => (await bench.client.exists(bench.key("meta"))) === 1,
    );
    await queue.addBulk(Array.from({ length: 30 }, (_, n) => ({ name: "new", data: n })));
    await until("new jobs are done", async () => (await bench.completed()) === 30);
    expect(await bench.client.get(`emq:{${bench.name}}:meta`)).toBe("echomq:2.0.0");
    await settles("close", worker.close());
    expect(await queue.getJobCounts()).toMatchObject({ active: 0, waiting: 0, failed: 0 });
  });

  test("is restarted while working, with its append-only file: nothing is lost", async () => {
    const bench = await Bench.own(engine, ["--appendonly", "yes", "--appendfsync", "always"]);
    const queue = bench.queue({ defaultJobOptions: KEEP });
    const total = 300;
    const jobs = await queue.addBulk(
      Array.from({ length: total }, (_, n) => ({ name: "x", data: n })),
    );
    const worker = bench.worker(() => new Promise((resolve) => setTimeout(resolve, 3)), {
      concurrency: 5,
      lockDuration: 1_000,
      stalledInterval: 300,
      maxStalledCount: 50,
    });
    for (const mark of [40, 150]) {
      await until("progress", async () => (await bench.completed()) >= mark);
      await bench.server.restart();
    }
    const late = queue.add("late", {});
    await until("all are done", async () => (await bench.completed()) === total + 1);
    const done = new Set(await bench.client.zrange(bench.key("completed"), 0, -1));
    expect(done).toEqual(new Set([...jobs, await late].map(({ id }) => id)));
    await until("no lease is left", async () => (await queue.getJobCounts()).active === 0);
    await worker.close();
  });

  test("comes up after its clients: they say so, and start", async () => {
    const port = await freePort();
    const connection = `redis://127.0.0.1:${port}`;
    const quick = { connection, retryTime: 300, commandTimeout: 300 };
    const queue = new Queue("late", quick);
    const ran: unknown[] = [];
    const worker = new Worker("late", (job) => void ran.push(job.data), quick);
    onTestFinished(async () => {
      await worker.close({ timeout: 0 });
      await queue.close();
    });
    const codes: unknown[] = [];
    worker.on("error", (error) => codes.push((error as { code?: string }).code));
    const add = await settles("add", refusal(queue.add("x", 1)));
    expect(add).toMatchObject({ code: "CONNECTION_LOST", transient: true });
    await until("it says so", () => codes.length > 0);
    expect(codes).toContain("CONNECTION_LOST");
    const server = await startServer({ engine, port });
    onTestFinished(() => server.stop());
    await until("an add succeeds", () =>
      queue.add("x", 2).then(
        () => true,
        () => false,
      ),
    );
    await until("the worker starts", () => ran.length > 0);
    expect(ran).toContain(2);
  });

  test("wants a password that is missing, wrong, then right", async () => {
    const bench = await Bench.own(engine, ["--requirepass", "secret:/@#"]);
    const { port } = bench.server;
    const make = (password?: string) => {
      const connection = { host: "127.0.0.1", port, ...(password ? { password } : {}) };
      const queue = new Queue("q", { connection });
      const worker = new Worker("q", () => undefined, { connection, autorun: false });
      worker.on("error", () => undefined);
      onTestFinished(async () => {
        await queue.close();
        await worker.close();
      });
      return { queue, worker };
    };
    for (const password of [undefined, "wrong"]) {
      const { queue, worker } = make(password);
      const error = await refusal(queue.add("x", {}));
      expect(error.code).toMatch(/^(NOAUTH|UNKNOWN)$/);
      expect(error.message).toMatch(/NOAUTH|WRONGPASS/);
      expect(error.message).not.toContain("wrong/");
      expect((await refusal(worker.run())).message).toMatch(/NOAUTH|WRONGPASS/);
    }
    const { queue } = make("secret:/@#");
    await queue.add("x", {});
    expect(await queue.getJobCounts()).toMatchObject({ waiting: 1 });
  });

  test("is full: an add is refused as OOM and writes nothing, a worker goes on", async () => {
    const bench = await Bench.own(engine, ["--maxmemory-policy", "noeviction"]);
    const queue = bench.queue({ retryTime: 500 });
    const jobs = await queue.addBulk(
      Array.from({ length: 50 }, (_, n) => ({ name: "x", data: n })),
    );
    await bench.client.config("SET", "maxmemory", "1");
    const before = await dumpAll(bench.client);
    expect(await refusal(queue.add("x", {}))).toMatchObject({ code: "OOM", name: "ServerError" });
    expect(await refusal(queue.add("x", {}, { jobId: "own", delay: 5 }))).toMatchObject({
      code: "OOM",
    });
    expect(await dumpAll(bench.client)).toEqual(before);
    const codes: unknown[] = [];
    const worker = bench.worker((job) => {
      if ((job.data as number) % 10 === 0) throw new Error("no");
    });
    worker.on("error", (error) => codes.push((error as { code?: string }).code));
    await until("all have ended", async () => {
      const { completed, failed } = await queue.getJobCounts();
      return completed === 45 && failed === 5;
    });
    expect(codes).toEqual([]);
    expect(jobs.length).toBe(50);
    await bench.client.config("SET", "maxmemory", "0");
    await queue.add("x", 1);
    await until("it goes on", async () => (await bench.completed()) === 46);
  });

  test("refuses what the user may not do: the error names it", async () => {
    const bench = await Bench.own(engine);
    await bench.client.call("ACL", "SETUSER", "limited", "on", ">pw", "~emq:*", "+@all");
    const connection = `redis://limited:pw@127.0.0.1:${bench.server.port}`;
    const queue = new Queue("q", { connection });
    onTestFinished(() => queue.close());
    const error = await refusal(queue.add("x", {}));
    expect(error).toMatchObject({ code: "NOPERM" });
    expect(error.message).toContain("{emq}:");
    expect(await dumpAll(bench.client)).toEqual(new Map());
  });
});

test("a server that stops answering for a while is waited for, and nothing is lost", async () => {
  const bench = await Bench.own();
  const queue = bench.queue({ defaultJobOptions: KEEP, commandTimeout: 400 });
  const worker = bench.worker(() => new Promise((resolve) => setTimeout(resolve, 2)), {
    concurrency: 4,
    commandTimeout: 400,
    lockDuration: 1_500,
    stalledInterval: 300,
    maxStalledCount: 50,
  });
  const total = 400;
  await queue.addBulk(Array.from({ length: total }, (_, n) => ({ name: "x", data: n })));
  for (const mark of [50, 200]) {
    await until("progress", async () => (await bench.completed()) >= mark);
    await bench.server.kill("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    await bench.server.kill("SIGCONT");
  }
  await until("all are done", async () => (await bench.completed()) === total);
  await until("no lease is left", async () => (await queue.getJobCounts()).active === 0);
  await worker.close();
  expect(await plainClient(bench.url).hlen(bench.key("owners"))).toBe(0);
});
