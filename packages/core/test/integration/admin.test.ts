import { sharedServer } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Job, Queue } from "../../src/index.js";
import { Bench, type DriverName, ENGINES, gate, makeDriver, makeStrict } from "../support/bench.js";
import { refusal, until } from "../support/until.js";

const MODES: readonly (readonly [string, (url: string) => ReturnType<typeof makeDriver>])[] = [
  ...(["ioredis", "node-redis"] as const satisfies DriverName[]).map(
    (name) => [name, (url: string) => makeDriver(url, name)] as const,
  ),
  ["strict mode", makeStrict] as const,
];

async function found(queue: Queue, id: string): Promise<Job> {
  const job = await queue.getJob(id);
  if (!job) throw new Error(`no job ${id}`);
  return job as Job;
}

const idsOf = (jobs: readonly { readonly id: string }[]): string[] => jobs.map(({ id }) => id);

describe.each(ENGINES)("jobs changed by hand on %s", (engine) => {
  describe.each(MODES)("%s", (_, make) => {
    async function open(): Promise<Bench> {
      const { url } = await sharedServer(engine);
      const made = await make(url);
      onTestFinished(() => made.close());
      return Bench.on(url, made);
    }

    /** One job in each state but active: w, p, d, done (completed) and bad (failed). */
    async function filled(): Promise<{ bench: Bench; queue: Queue }> {
      const bench = await open();
      const queue = bench.queue();
      const worker = bench.worker(async ({ name }) => {
        if (name === "bad") throw new Error("bad");
        return 1;
      });
      await queue.add("ok", 1, { jobId: "done" });
      await queue.add("bad", 1, { jobId: "bad" });
      await until("both ended", async () => {
        const { completed, failed } = await queue.getJobCounts();
        return completed === 1 && failed === 1;
      });
      await worker.close();
      await queue.add("x", 1, { jobId: "w" });
      await queue.add("x", 1, { jobId: "p", priority: 3 });
      await queue.add("x", 1, { jobId: "d", delay: 600_000 });
      return { bench, queue };
    }

    test("remove takes a job out of any state, with all it owns", async () => {
      const { bench, queue } = await filled();
      await (await found(queue, "w")).log("line");
      for (const id of ["w", "p", "d", "done", "bad"]) expect(await queue.remove(id)).toBe(1);
      for (const id of ["w", "p", "d", "done", "bad"]) {
        expect(await queue.remove(id)).toBe(0);
        expect(await queue.getJobState(id)).toBe("unknown");
      }
      expect(await queue.doctor()).toMatchObject({ ok: true });
      expect(await bench.client.keys(bench.key("job:*"))).toEqual([]);
      expect(await bench.client.keys(bench.key("logs:*"))).toEqual([]);
      const left = ["priorities", "trash", "extras"].map((unit) => bench.key(unit));
      expect(await bench.client.exists(...left)).toBe(0);
    });

    test("an active job is not removed, and one that is gone is no error of job.remove", async () => {
      const bench = await open();
      const queue = bench.queue();
      const { opened, open: release } = gate();
      bench.worker(() => opened);
      const job = await queue.add("x", 1);
      await until("it runs", () => job.isActive());
      expect(await refusal(job.remove())).toMatchObject({ code: "EMQSTATE", op: "Job.remove" });
      expect(await refusal(queue.remove(job.id))).toMatchObject({ code: "EMQSTATE" });
      release();
      await until("it ended", () => job.isCompleted());
      await job.remove();
      await job.remove();
    });

    test("retry puts an ended job back in line with a clean end, and its attempts when asked", async () => {
      const { bench, queue } = await filled();
      const bad = await found(queue, "bad");
      expect(await refusal(bad.retry("completed"))).toMatchObject({ code: "EMQSTATE" });
      await bad.retry();
      const again = await found(queue, "bad");
      expect(again).toMatchObject({ attemptsMade: 1, failedReason: undefined });
      expect(again.finishedOn).toBeUndefined();
      expect(await refusal(bad.retry())).toMatchObject({ code: "EMQSTATE", op: "Job.retry" });
      await (await found(queue, "done")).retry("completed", { resetAttempts: true });
      expect(await found(queue, "done")).toMatchObject({ attemptsMade: 0, returnvalue: undefined });
      expect(idsOf(await queue.getWaiting())).toEqual(["w", "bad", "done"]);
      await queue.remove("bad");
      expect(await refusal(bad.retry())).toMatchObject({ code: "EMQMISSING" });
      const seen: string[] = [];
      bench.worker(async ({ id }) => void seen.push(id));
      await until("all ran", () => seen.length === 3);
      expect(seen).toEqual(["w", "done", "p"]);
    });

    test("retryJobs takes all that had failed by then, oldest first, and not those that fail again", async () => {
      const bench = await open();
      const queue = bench.queue();
      let runs = 0;
      bench.worker(
        async () => {
          runs += 1;
          throw new Error("again");
        },
        { concurrency: 20 },
      );
      const ids = Array.from({ length: 250 }, (_, n) => `j${n}`);
      await queue.addBulk(ids.map((jobId) => ({ name: "x", data: 1, opts: { jobId } })));
      await until("all failed", async () => (await queue.getFailedCount()) === 250);
      expect(await queue.retryJobs({ count: 40 })).toBe(250);
      await until("all failed again", async () => runs === 500);
      expect(await queue.retryJobs({ timestamp: 1 })).toBe(0);
      expect(await queue.retryJobs({ state: "completed" })).toBe(0);
    });

    test("promote moves a delayed job to the back of its line and wakes a worker", async () => {
      const { bench, queue } = await filled();
      await queue.add("x", 1, { jobId: "late", delay: 600_000, priority: 3 });
      const late = await found(queue, "late");
      await late.promote();
      expect(idsOf(await queue.getPrioritized())).toEqual(["p", "late"]);
      expect(await refusal(late.promote())).toMatchObject({ code: "EMQSTATE", op: "Job.promote" });
      await queue.remove("late");
      expect(await refusal(late.promote())).toMatchObject({ code: "EMQMISSING" });
      const seen: string[] = [];
      bench.worker(async ({ id }) => void seen.push(id));
      await until("the line is empty", () => seen.length === 2);
      await (await found(queue, "d")).promote();
      await until("the promoted one ran", () => seen.includes("d"));
    });

    test("promoteJobs moves all delayed jobs, the next due first", async () => {
      const bench = await open();
      const queue = bench.queue();
      await queue.addBulk(
        [3, 1, 2].map((n) => ({
          name: "x",
          data: n,
          opts: { jobId: `d${n}`, delay: n * 600_000 },
        })),
      );
      expect(await queue.promoteJobs({ count: 2 })).toBe(3);
      expect(idsOf(await queue.getWaiting())).toEqual(["d1", "d2", "d3"]);
      expect(await queue.promoteJobs()).toBe(0);
    });

    test("changeDelay counts from now and brings a job forward", async () => {
      const { bench, queue } = await filled();
      const job = await found(queue, "d");
      await job.changeDelay(3_600_000);
      const due = await bench.client.zscore(bench.key("delayed"), "d");
      expect(Number(due) - job.timestamp).toBeGreaterThan(3_599_000);
      expect(await found(queue, "d")).toMatchObject({ delay: 3_600_000 });
      const seen: string[] = [];
      bench.worker(async ({ id }) => void seen.push(id));
      await until("the line is empty", () => seen.length === 2);
      await job.changeDelay(1);
      await until("it ran", () => seen.includes("d"));
      expect(await refusal(job.changeDelay(1))).toMatchObject({ code: "EMQSTATE" });
      expect(await refusal(() => job.changeDelay(-1))).toMatchObject({ option: "delay" });
    });

    test("changePriority moves within and between the lines", async () => {
      const { queue } = await filled();
      await queue.add("x", 1, { jobId: "w2" });
      await queue.add("x", 1, { jobId: "p2", priority: 3 });
      await (await found(queue, "w")).changePriority({ priority: 3 });
      expect(idsOf(await queue.getPrioritized())).toEqual(["p", "p2", "w"]);
      await (await found(queue, "w")).changePriority({ priority: 3, lifo: true });
      expect(idsOf(await queue.getPrioritized())).toEqual(["w", "p", "p2"]);
      await (await found(queue, "p2")).changePriority({ priority: 1 });
      expect(idsOf(await queue.getPrioritized())).toEqual(["p2", "w", "p"]);
      await (await found(queue, "p")).changePriority({ lifo: true });
      expect(idsOf(await queue.getWaiting())).toEqual(["p", "w2"]);
      await (await found(queue, "d")).changePriority({ priority: 9 });
      expect(await found(queue, "d")).toMatchObject({ priority: 9 });
      await (await found(queue, "d")).promote();
      expect(idsOf(await queue.getPrioritized())).toEqual(["p2", "w", "d"]);
      const done = await found(queue, "done");
      expect(await refusal(done.changePriority({ priority: 1 }))).toMatchObject({
        code: "EMQSTATE",
      });
      await queue.remove("done");
      expect(await refusal(done.changePriority({}))).toMatchObject({ code: "EMQMISSING" });
      const misspelt = { priorty: 1 } as unknown as { priority: number };
      expect(String(await refusal(() => done.changePriority(misspelt)))).toContain("did you mean");
    });

    test("cancel ends jobs that do not run, ahead of all others, and keeps the first reason", async () => {
      const { bench, queue } = await filled();
      for (const id of ["p", "d"]) await queue.cancel(id, `why ${id}`);
      await (await found(queue, "d")).cancel("another");
      expect(await queue.getJobState("d")).toBe("waiting");
      expect(await refusal(queue.cancel("done"))).toMatchObject({ code: "EMQSTATE" });
      expect(await refusal(queue.cancel("never"))).toMatchObject({ code: "EMQMISSING" });
      expect(await refusal(() => queue.cancel("p", 1 as unknown as string))).toMatchObject({
        option: "reason",
      });
      const seen: string[] = [];
      bench.worker(async ({ id }) => void seen.push(id));
      await until("both failed", async () => (await queue.getFailedCount()) === 3);
      await until("the other ran", () => seen.length === 1);
      expect(seen).toEqual(["w"]);
      expect((await found(queue, "d")).failedReason).toContain("why d");
      await until(
        "no verdict is left",
        async () => !(await bench.client.exists(bench.key("verdicts"))),
      );
      expect(await queue.doctor()).toMatchObject({ ok: true });
    });

    test("clean removes what is old enough, oldest first, of each state", async () => {
      const { queue } = await filled();
      await queue.add("x", 1, { jobId: "w2" });
      expect(await queue.clean(3_600_000, 0, "waiting")).toEqual([]);
      expect(await queue.clean(0, 1, "wait")).toEqual(["w"]);
      expect(await queue.clean(0, 0, "waiting")).toEqual(["w2"]);
      expect(await queue.clean(0, 10, "prioritized")).toEqual(["p"]);
      expect(await queue.clean(0, 10, "delayed")).toEqual(["d"]);
      expect(await queue.clean(3_600_000, 10)).toEqual([]);
      expect(await queue.clean(0, 10)).toEqual(["done"]);
      expect(await queue.clean(0, 10, "failed")).toEqual(["bad"]);
      expect(await queue.getJobs()).toEqual([]);
      expect(await queue.doctor()).toMatchObject({ ok: true });
      const active = "active" as "failed";
      expect(await refusal(() => queue.clean(0, 0, active))).toMatchObject({ option: "type" });
      expect(await refusal(() => queue.clean(-1, 0))).toMatchObject({ option: "grace" });
      expect(await refusal(() => queue.clean(0, 0.5))).toMatchObject({ option: "limit" });
    });

    test("drain empties the line and, when asked, what is delayed; the rest stays", async () => {
      const { queue } = await filled();
      expect(await queue.drain()).toBe(2);
      expect(await queue.getJobCounts()).toMatchObject({ delayed: 1, completed: 1, failed: 1 });
      expect(await queue.drain(true)).toBe(1);
      expect(await queue.count()).toBe(0);
      expect(await queue.doctor()).toMatchObject({ ok: true });
    });

    test("a run writes data, progress and log, and another process reads them", async () => {
      const bench = await open();
      const queue = bench.queue();
      bench.worker(async (job) => {
        await job.updateData({ step: 2 });
        await job.updateProgress({ done: 50 });
        for (const line of ["a", "b", "c"]) await job.log(line);
        return job.data;
      });
      const job = (await queue.add("x", { step: 1 })) as Job;
      await until("it ended", () => job.isCompleted());
      const read = await found(queue, job.id);
      expect(read).toMatchObject({ data: { step: 2 }, progress: { done: 50 } });
      expect(read.returnvalue).toEqual({ step: 2 });
      expect(await read.getLogs()).toEqual({ logs: ["a", "b", "c"], count: 3 });
      await read.remove();
      expect(await refusal(read.updateData(1))).toMatchObject({ code: "EMQMISSING" });
      expect(await refusal(read.updateProgress(1))).toMatchObject({ code: "EMQMISSING" });
      expect(await refusal(read.log("x"))).toMatchObject({ code: "EMQMISSING" });
      const huge = "x".repeat(65_537);
      expect(await refusal(() => read.log(huge))).toMatchObject({ option: "line" });
      expect(await bench.client.keys(bench.key("logs:*"))).toEqual([]);
    });

    test("what a run writes after it lost its lease is refused", async () => {
      const bench = await open();
      const queue = bench.queue();
      const codes: unknown[] = [];
      const { opened, open: release } = gate();
      let runs = false;
      bench.worker(async (job) => {
        runs = true;
        await opened;
        for (const work of [
          () => job.updateData(2),
          () => job.updateProgress(2),
          () => job.log("x"),
        ]) {
          codes.push((await refusal(work)).code);
        }
      });
      await queue.add("x", 1, { jobId: "j" });
      await until("it runs", () => runs);
      await bench.client.hset(bench.key("owners"), "j", "1:another");
      release();
      await until("all were refused", () => codes.length === 3);
      expect(codes).toEqual(["EMQSTALE", "EMQSTALE", "EMQSTALE"]);
      expect(await found(queue, "j")).toMatchObject({ data: 1, progress: 0 });
    });

    test("verbs on a queue that does not exist remove nothing and create no job", async () => {
      const queue = (await open()).queue();
      expect(await queue.drain(true)).toBe(0);
      expect(await queue.clean(0, 0)).toEqual([]);
      expect(await queue.clean(0, 0, "waiting")).toEqual([]);
      expect(await queue.promoteJobs()).toBe(0);
      expect(await queue.retryJobs()).toBe(0);
      await queue.obliterate();
      expect(await queue.remove("x")).toBe(0);
    });
  });
});
