import { sharedServer } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { Bench, type DriverName, ENGINES, gate, makeDriver, makeStrict } from "../support/bench.js";
import { refusal, until } from "../support/until.js";

const MODES: readonly (readonly [string, (url: string) => ReturnType<typeof makeDriver>])[] = [
  ...(["ioredis", "node-redis"] as const satisfies DriverName[]).map(
    (name) => [name, (url: string) => makeDriver(url, name)] as const,
  ),
  ["strict mode", makeStrict] as const,
];

describe.each(ENGINES)("looking at a queue on %s", (engine) => {
  describe.each(MODES)("%s", (_, make) => {
    async function open(): Promise<Bench> {
      const { url } = await sharedServer(engine);
      const made = await make(url);
      onTestFinished(() => made.close());
      return Bench.on(url, made);
    }

    test("a queue that does not exist looks empty, and nothing is created", async () => {
      const bench = await open();
      const queue = bench.queue();
      expect(await queue.getJobs()).toEqual([]);
      expect(await queue.count()).toBe(0);
      expect(await queue.getCountsPerPriority([0, 1])).toEqual({ 0: 0, 1: 0 });
      expect(await queue.getJobState("1")).toBe("unknown");
      expect(await queue.getJobLogs("1")).toEqual({ logs: [], count: 0 });
      expect(await queue.getMetrics("completed")).toEqual({
        meta: { count: 0, prevTS: 0, prevCount: 0 },
        data: [],
        count: 0,
      });
      expect(await queue.getWorkers()).toEqual([]);
      expect(await queue.getWorkersCount()).toBe(0);
      expect(await queue.doctor()).toMatchObject({ ok: true, looked: 0, findings: [] });
      expect(await queue.exportPrometheusMetrics()).toContain('state="waiting"} 0');
      expect(await bench.client.keys(`emq:{${bench.name}}:*`)).toEqual([]);
    });

    test("every state is listed in the order its jobs run or ended", async () => {
      const bench = await open();
      const queue = bench.queue();
      const { opened, open: release } = gate();
      const worker = bench.worker(async ({ name }) => {
        if (name === "bad") throw new Error("bad");
        if (name === "run") await opened;
      });
      for (const name of ["ok", "bad"]) {
        for (const n of [1, 2, 3]) await queue.add(name, n, { jobId: `${name}${n}` });
      }
      await until("six ended", async () => (await queue.count()) === 0);
      await queue.add("run", 1, { jobId: "run" });
      await until("one runs", async () => (await queue.getActiveCount()) === 1);
      for (const n of [1, 2, 3]) {
        await queue.add("x", n, { jobId: `w${n}` });
        await queue.add("x", n, { jobId: `p${n}`, priority: 4 - n });
        await queue.add("x", n, { jobId: `d${n}`, delay: 90_000 - n * 10_000 });
      }
      const ids = async (jobs: Promise<readonly { id: string }[]>): Promise<string[]> =>
        (await jobs).map(({ id }) => id);
      expect(await ids(queue.getWaiting())).toEqual(["w1", "w2", "w3"]);
      expect(await ids(queue.getPrioritized())).toEqual(["p3", "p2", "p1"]);
      expect(await ids(queue.getDelayed())).toEqual(["d3", "d2", "d1"]);
      expect(await ids(queue.getActive())).toEqual(["run"]);
      expect(await ids(queue.getCompleted())).toEqual(["ok3", "ok2", "ok1"]);
      expect(await ids(queue.getFailed())).toEqual(["bad3", "bad2", "bad1"]);
      expect(await ids(queue.getWaiting(1, 1))).toEqual(["w2"]);
      expect(await ids(queue.getWaiting(1))).toEqual(["w2", "w3"]);
      expect(await ids(queue.getJobs("waiting", 0, 1))).toEqual(["w3", "w2"]);
      expect(await ids(queue.getJobs(["wait", "delayed"], 0, 0, true))).toEqual(["w1", "d3"]);
      expect(await ids(queue.getJobs(["failed"], 7, 9))).toEqual([]);
      expect(new Set(await ids(queue.getJobs())).size).toBe(16);
      const [first] = await queue.getFailed(0, 0);
      expect(first).toMatchObject({ name: "bad", data: 3, failedReason: "bad" });
      expect(await first?.isFailed()).toBe(true);
      expect(await first?.isCompleted()).toBe(false);
      const [running] = await queue.getActive();
      expect(running?.processedOn).toBeGreaterThan(0);
      expect(await running?.isActive()).toBe(true);
      expect(await (await queue.getDelayed())[0]?.isDelayed()).toBe(true);
      expect(await (await queue.getWaiting())[0]?.isWaiting()).toBe(true);
      expect(await queue.getJobState("p2")).toBe("prioritized");
      expect(await queue.getJobCounts()).toEqual({
        active: 1,
        waiting: 3,
        prioritized: 3,
        delayed: 3,
        "waiting-children": 0,
        held: 0,
        completed: 3,
        failed: 3,
      });
      expect(await queue.getJobCounts("wait", "failed")).toEqual({ wait: 3, failed: 3 });
      expect(await queue.getJobCountByTypes("wait", "waiting", "delayed")).toBe(6);
      expect(await queue.count()).toBe(9);
      expect(await queue.getCountsPerPriority([0, 1, 2, 9, 2_097_151])).toEqual({
        0: 3,
        1: 1,
        2: 1,
        9: 0,
        2097151: 0,
      });
      const text = await queue.exportPrometheusMetrics({ team: 'a"b\n' });
      expect(text).toContain(
        `echomq_job_count{queue="${bench.name}", state="failed", team="a\\"b\\n"} 3`,
      );
      expect(text).not.toContain("_total{");
      release();
      await worker.close();
    });

    test("what deduplication keeps back is a state of its own, until its place comes", async () => {
      const bench = await open();
      const queue = bench.queue();
      const { opened, open: release } = gate();
      const worker = bench.worker(() => opened, { concurrency: 5 });
      const lock = (id: string) => ({ deduplication: { id, keepLastIfActive: true } });
      for (const id of ["a", "b"]) await queue.add("x", 1, { jobId: id, ...lock(id) });
      await until("both run", async () => (await queue.getActiveCount()) === 2);
      for (const id of ["a", "b"]) await queue.add("x", 2, { jobId: `${id}2`, ...lock(id) });
      const later = (await ms(bench)) + 5;
      // They stand by the moment they were added, and of one moment by id.
      await until("a later moment", async () => (await ms(bench)) > later);
      // A newer one takes the place of what was kept back.
      await queue.add("x", 3, { jobId: "a3", ...lock("a") });
      expect(await queue.getJobState("a3")).toBe("held");
      expect(await queue.getJobState("a2")).toBe("unknown");
      expect(await (await queue.getJob("b2"))?.getState()).toBe("held");
      expect((await queue.getHeld()).map(({ id, data }) => [id, data])).toEqual([
        ["b2", 2],
        ["a3", 3],
      ]);
      expect((await queue.getJobs("held", 0, 0)).map(({ id }) => id)).toEqual(["a3"]);
      expect(await queue.getHeldCount()).toBe(2);
      expect(await queue.getJobCounts()).toMatchObject({ active: 2, waiting: 0, held: 2 });
      expect(await queue.getJobCounts("held")).toEqual({ held: 2 });
      expect(await queue.count()).toBe(0);
      expect((await queue.getJobs()).map(({ id }) => id).sort()).toEqual(["a", "a3", "b", "b2"]);
      expect(await queue.exportPrometheusMetrics()).toContain('state="held"} 2\n');
      release();
      await until("all are done", async () => (await queue.getCompletedCount()) === 4);
      expect(await queue.getHeldCount()).toBe(0);
      expect(await queue.getHeld()).toEqual([]);
      await worker.close();
    });

    test("a page holds what the state holds, over many pages, and leaves out what is gone", async () => {
      const bench = await open();
      const queue = bench.queue();
      await queue.addBulk(
        Array.from({ length: 1_203 }, (_, n) => ({ name: "x", data: n, opts: { jobId: `${n}` } })),
      );
      await bench.client.del(bench.key("job:700"));
      const jobs = await queue.getWaiting();
      expect(jobs.map(({ id }) => Number(id))).toEqual(
        Array.from({ length: 1_203 }, (_, n) => n).filter((n) => n !== 700),
      );
      expect((await queue.getWaiting(499, 1_000)).map(({ id }) => Number(id))).toEqual(
        Array.from({ length: 502 }, (_, n) => n + 499).filter((n) => n !== 700),
      );
    });

    test("log lines come by range, in both directions, and not of a removed job", async () => {
      const bench = await open();
      const queue = bench.queue();
      await queue.add("x", {}, { jobId: "a" });
      const lines = Array.from({ length: 250 }, (_, n) => `line ${n}`);
      await bench.client.rpush(bench.key("logs:a"), ...lines);
      expect(await queue.getJobLogs("a")).toEqual({ logs: lines, count: 250 });
      expect(await queue.getJobLogs("a", 1, 2)).toEqual({ logs: lines.slice(1, 3), count: 250 });
      expect(await queue.getJobLogs("a", 0, 1, false)).toEqual({
        logs: ["line 249", "line 248"],
        count: 250,
      });
      expect(await queue.getJobLogs("none")).toEqual({ logs: [], count: 0 });
      await bench.client.zadd(bench.key("trash"), 1, "a");
      expect(await queue.getJobLogs("a")).toEqual({ logs: [], count: 0 });
    });

    test("bad input is refused by name before anything is sent", async () => {
      const bench = await open();
      const queue = bench.queue();
      const cases: [string, () => Promise<unknown>][] = [
        ["states", () => queue.getJobs("paused" as never)],
        ["states", () => queue.getJobs(["waiting", "waitng" as never])],
        ["states", () => queue.getJobCounts("nothing" as never)],
        ["start", () => queue.getJobs("waiting", -1)],
        ["start", () => queue.getWaiting(Number.NaN)],
        ["end", () => queue.getJobs("waiting", 0, -2)],
        ["end", () => queue.getJobs("waiting", 0, 1.5)],
        ["asc", () => queue.getJobs("waiting", 0, 1, 1 as never)],
        ["priorities", () => queue.getCountsPerPriority(1 as never)],
        ["priorities[1]", () => queue.getCountsPerPriority([0, 2_097_152])],
        ["priorities[0]", () => queue.getCountsPerPriority([undefined as never])],
        ["id", () => queue.getJobState("")],
        ["id", () => queue.getJobLogs(5 as never)],
        ["type", () => queue.getMetrics("delayed" as never)],
        ["labels.queue", () => queue.exportPrometheusMetrics({ queue: "x" })],
        ["labels.a-b", () => queue.exportPrometheusMetrics({ "a-b": "x" })],
        ["labels.a", () => queue.exportPrometheusMetrics({ a: 1 as never })],
        ["labels", () => queue.exportPrometheusMetrics([] as never)],
        ["options.fixx", () => queue.doctor({ fixx: true } as never)],
        ["options.limit", () => queue.doctor({ limit: 0 })],
      ];
      for (const [option, work] of cases) {
        expect(await refusal(work), option).toMatchObject({ code: "VALIDATION", option });
      }
    });
  });
});

/** The server's time. */
async function ms({ client }: Bench): Promise<number> {
  const [seconds, micros] = await client.time();
  return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
}
