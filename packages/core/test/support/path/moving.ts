import { Dispatcher, purgeScript, removeScript, unscheduleScript } from "@echomq/scripts";
import { expect } from "vitest";
import type { JobOptions, Queue } from "../../../src/index.js";
import { gate } from "../bench.js";
import { refusal, until } from "../until.js";
import type { PathCase } from "./case.js";

type Added = Awaited<ReturnType<Queue["add"]>>;

/** Jobs with these options, whose data is their place. */
async function add(
  queue: Queue,
  opts: readonly JobOptions[],
): Promise<[Added, Added, Added, Added]> {
  const jobs = opts.map((one, data) => ({ name: "x", data, opts: one }));
  return (await queue.addBulk(jobs)) as [Added, Added, Added, Added];
}

/** Cases of moving and removing jobs by hand. */
export const MOVING: readonly PathCase[] = [
  {
    title: "jobs that ended are retried; others are refused",
    scripts: ["retry", "ended"],
    refusals: ["retry EMQMISSING", "retry EMQSTATE"],
    run: async ({ bench }) => {
      const queue = bench.queue();
      let broken = true;
      const worker = bench.worker(({ data }) => {
        if (broken) throw new Error(String(data));
      });
      const [one, two, gone] = await add(queue, [{}, {}, {}]);
      await until("all failed", async () => (await queue.getFailedCount()) === 3);
      await gone.remove();
      expect(await refusal(gone.retry())).toMatchObject({ code: "EMQMISSING" });
      expect(await refusal(one.retry("completed"))).toMatchObject({ code: "EMQSTATE" });
      broken = false;
      await one.retry();
      // What ended by now is retried: the clocks of two programs may differ by a moment.
      let retried = 0;
      await until("the other is retried", async () => {
        retried += await queue.retryJobs();
        return retried === 1;
      });
      await until("both are done", async () => (await queue.getCompletedCount()) === 2);
      expect(await two.getState()).toBe("completed");
      await worker.close();
    },
  },
  {
    title: "delayed jobs are promoted and put off; others are refused",
    scripts: ["advance", "redelay"],
    refusals: ["advance EMQMISSING", "advance EMQSTATE", "redelay EMQMISSING", "redelay EMQSTATE"],
    run: async ({ bench }) => {
      const queue = bench.queue();
      const late = { delay: 600_000 };
      const [one, two, gone, waits] = await add(queue, [late, late, late, {}]);
      await gone.remove();
      await one.promote();
      await two.changeDelay(900_000);
      expect(await queue.getJob(two.id)).toMatchObject({ delay: 900_000 });
      for (const verb of ["promote", "changeDelay"] as const) {
        expect(await refusal(gone[verb](5))).toMatchObject({ code: "EMQMISSING" });
        expect(await refusal(waits[verb](5))).toMatchObject({ code: "EMQSTATE" });
      }
      expect(await queue.getJobCounts()).toMatchObject({ waiting: 2, delayed: 1 });
      expect(await queue.promoteJobs()).toBe(1);
      expect((await queue.getWaiting()).map(({ data }) => data)).toEqual([3, 0, 1]);
    },
  },
  {
    title: "jobs in line change their place; others are refused",
    scripts: ["rerank", "ranks"],
    refusals: ["rerank EMQMISSING", "rerank EMQSTATE"],
    run: async ({ bench }) => {
      const queue = bench.queue();
      const [one, two, gone] = await add(queue, [{ priority: 5 }, { priority: 5 }, {}]);
      await two.changePriority({ priority: 2 });
      expect(await queue.getCountsPerPriority([0, 2, 5])).toEqual({ 0: 1, 2: 1, 5: 1 });
      await gone.remove();
      expect(await refusal(gone.changePriority({}))).toMatchObject({ code: "EMQMISSING" });
      const order: unknown[] = [];
      const worker = bench.worker(({ data }) => void order.push(data));
      await until("both are done", async () => (await queue.getCompletedCount()) === 2);
      expect(order).toEqual([1, 0]);
      expect(await refusal(one.changePriority({}))).toMatchObject({ code: "EMQSTATE" });
      await worker.close();
    },
  },
  {
    title: "jobs are removed from any state but active",
    scripts: ["remove", "bury", "log", "loglines"],
    refusals: ["remove EMQMISSING", "remove EMQSTATE", "remove EMQRETRY"],
    run: async ({ bench, seen, driver }) => {
      const queue = bench.queue();
      const { opened, open } = gate();
      const worker = bench.worker(() => opened);
      const runs = await queue.add("x", 0);
      await until("it runs", () => runs.isActive());
      const waits = await queue.add("x", 1);
      await waits.log("a line");
      expect(await waits.getLogs()).toEqual({ logs: ["a line"], count: 1 });
      expect(await queue.remove(waits.id)).toBe(1);
      expect(await queue.remove(waits.id)).toBe(0);
      const keys = ["job", "logs"].map((kind) => bench.key(`${kind}:${waits.id}`));
      expect(await bench.client.exists(...keys)).toBe(0);
      expect(await refusal(queue.remove(runs.id))).toMatchObject({ code: "EMQSTATE" });
      open();
      await worker.close();
      // Each costs a search of the line, so the queue itself never names more than one call takes.
      const items = Array.from({ length: 21 }, (_, n) => ({ id: `none-${n}` }));
      const args = { now: 1, only: "", before: 1 };
      const call = { q: bench.name, args, items };
      const raw = Dispatcher.over(seen.watch(driver));
      expect((await raw.run(removeScript, call)).at(-1)).toMatch(/^EMQRETRY /);
    },
  },
  {
    title: "draining and cleaning remove what they say",
    scripts: ["purge", "ended", "added", "remove", "bury"],
    refusals: ["purge EMQSTATE", "unschedule EMQSTATE"],
    run: async ({ bench, seen, driver }) => {
      const queue = bench.queue();
      const worker = bench.worker(({ data }) => {
        if (data === 1) throw new Error("no");
      });
      await queue.addBulk([0, 1].map((data) => ({ name: "x", data })));
      await until("both ended", async () => {
        return (await queue.getCompletedCount()) + (await queue.getFailedCount()) === 2;
      });
      await worker.close();
      const opts = [{}, { priority: 3 }, { delay: 600_000 }, {}];
      await queue.addBulk(opts.map((one, data) => ({ name: "x", data, opts: one })));
      expect(await queue.clean(0, 10, "completed")).toHaveLength(1);
      expect(await queue.clean(0, 10, "failed")).toHaveLength(1);
      expect(await queue.clean(0, 1, "waiting")).toHaveLength(1);
      expect(await queue.drain(true)).toBe(3);
      expect(await queue.getJobs()).toEqual([]);
      // Running jobs and schedulers are taken only from a queue that is being taken down.
      const raw = Dispatcher.over(seen.watch(driver));
      const args = { now: 1, state: "active", limit: 1 };
      const call = raw.run(purgeScript, { q: bench.name, args });
      expect(await refusal(call)).toMatchObject({ code: "EMQSTATE" });
      const schedulers = { q: bench.name, records: [], args: { limit: 1 } };
      const other = raw.run(unscheduleScript, schedulers);
      expect(await refusal(other)).toMatchObject({ code: "EMQSTATE" });
    },
  },
  {
    title: "a queue is taken down, is closed meanwhile, and opens again",
    scripts: ["close", "wipe", "purge", "unschedule"],
    refusals: ["close EMQSTATE", "add EMQSTATE", "retry EMQSTATE"],
    run: async ({ bench }) => {
      const queue = bench.queue();
      const { opened, open } = gate();
      const worker = bench.worker(() => opened);
      const runs = await queue.add("x", 0);
      await until("it runs", () => runs.isActive());
      await queue.addBulk([1, 2, 3].map((data) => ({ name: "x", data })));
      expect(await refusal(queue.obliterate())).toMatchObject({ code: "EMQSTATE" });
      expect(await queue.count()).toBe(3);
      // Something that obliterate cannot empty leaves the queue closing.
      await bench.client.sadd(bench.key("extras"), "stray");
      await bench.client.zadd(bench.key("schedulers"), 1, "daily");
      expect(await refusal(queue.obliterate({ force: true }))).toMatchObject({ code: "EMQSTATE" });
      expect(await refusal(queue.add("x", 4))).toMatchObject({ code: "EMQSTATE" });
      expect(await refusal(runs.retry())).toMatchObject({ code: "EMQSTATE" });
      await bench.client.del(bench.key("extras"));
      await queue.obliterate();
      open();
      await worker.close();
      expect(await queue.getJobs()).toEqual([]);
      await queue.add("x", 5);
      expect(await queue.count()).toBe(1);
    },
  },
];
