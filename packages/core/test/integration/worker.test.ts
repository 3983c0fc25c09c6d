import { sharedServer } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { Bench, gate } from "../support/bench.js";
import { until } from "../support/until.js";

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
    await until("all is told", () => new Set(errors.map((text) => text.split(" ")[0])).size === 5);
    await worker.close();
    await until("the error listener is told of too", () => warnings.length > 0);
    process.off("warning", heard);
    expect(warnings[0]).toContain("also the error listener");
  });

  test("events tell the life of a job", async () => {
    const bench = await open();
    const queue = bench.queue();
    const told: string[] = [];
    const worker = bench.worker((job, context) => {
      // Middleware copies it.
      const { token, lease, signal } = { ...context };
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

  test("a job that its handler froze ends as any other, and its listeners are told how", async () => {
    const bench = await open();
    const queue = bench.queue();
    await queue.addBulk(Array.from({ length: 3 }, (_, n) => ({ name: "x", data: n })));
    const told: unknown[] = [];
    const worker = bench.worker((job) => Object.freeze(job).data, { concurrency: 3 });
    worker.on("lost", (job) => told.push(`lost ${job.id}`));
    worker.on("error", (error) => told.push(error.message));
    worker.on("completed", (job) => told.push(job.returnvalue));
    await until("all are told", () => told.length === 3);
    expect(told).toEqual([0, 1, 2]);
  });

  test("of what is claimed ahead none counts as begun while it stands ready", async () => {
    const bench = await open();
    const door = gate();
    await bench.queue().addBulk(Array.from({ length: 60 }, (_, n) => ({ name: "x", data: n })));
    bench.worker(() => door.opened, { claimAhead: 20 });
    const owners = async (): Promise<string[]> => bench.client.hvals(bench.key("owners"));
    await until("all that it holds is claimed", async () => (await owners()).length === 21);
    expect((await owners()).filter((owner) => owner.endsWith("!"))).toHaveLength(1);
    door.open();
  });
});
