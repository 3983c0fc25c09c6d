import { expect } from "vitest";
import type { LeaseLostError } from "../../../src/index.js";
import { gate } from "../bench.js";
import { refusal, until } from "../until.js";
import type { PathCase, Place } from "./case.js";

const KEEP = { removeOnComplete: false, removeOnFail: false } as const;
/** Few enough that every settlement goes through `step`. */
const FEW = { removeOnComplete: 100, removeOnFail: 100 } as const;

/** Gives the lease of a running job to somebody else. */
async function steal({ bench }: Place, id: string): Promise<void> {
  await bench.client.hset(bench.key("owners"), id, "1:thief!");
}

const lossOf = (error: Error): string => (error as LeaseLostError).loss;

/** Adds jobs until something has been seen; the worker under test empties the queue meanwhile. */
async function addUntil(
  { bench }: Place,
  what: string,
  seen: () => boolean,
  name: () => string = () => "x",
): Promise<void> {
  const queue = bench.queue({ defaultJobOptions: KEEP });
  await until(what, async () => {
    if (seen()) return true;
    const jobs = Array.from({ length: 20 }, (_, data) => ({ name: name(), data }));
    await queue.addBulk(jobs);
    return false;
  });
}

/** Cases of claiming and settling. */
export const WORK: readonly PathCase[] = [
  {
    title: "a queue opens with its first job, which is worked off",
    scripts: ["init", "node", "push", "counts", "step", "begin", "heartbeat", "get", "page"],
    run: async ({ bench }) => {
      const queue = bench.queue({ defaultJobOptions: FEW });
      const job = await queue.add("x", { a: 1 });
      const worker = bench.worker(({ data }) => data);
      await until("it is done", async () => (await queue.getJobCounts()).completed === 1);
      expect(await queue.getJob(job.id)).toMatchObject({ returnvalue: { a: 1 }, attemptsMade: 1 });
      expect((await queue.getCompleted()).map(({ id }) => id)).toEqual([job.id]);
      await worker.close();
    },
  },
  {
    title: "a busy worker settles and claims in turns, each job once",
    scripts: ["turn"],
    run: async (place) => {
      const { bench, seen } = place;
      const queue = bench.queue();
      const ran: string[] = [];
      const worker = bench.worker(({ id }) => void ran.push(id));
      await addUntil(place, "a turn was taken", () => seen.scripts.has("turn"));
      await until("all are done", async () => (await queue.count()) === 0);
      await worker.close();
      expect(await queue.getJobCounts()).toMatchObject({ completed: ran.length, active: 0 });
      expect(new Set(ran).size).toBe(ran.length);
    },
  },
  {
    title: "a turn refuses runs without their lease and jobs that are gone",
    scripts: ["turn"],
    refusals: ["turn EMQSTALE", "turn EMQMISSING"],
    run: async (place) => {
      const { bench, seen } = place;
      const losses = new Set<unknown>();
      const worker = bench.worker(async ({ id, name }) => {
        if (name === "gone") await bench.client.del(bench.key(`job:${id}`));
        else await steal(place, id);
      });
      worker.on("lost", (_job, error) => losses.add(lossOf(error)));
      worker.on("completed", ({ name }) => losses.add(`completed ${name}`));
      const both = (): boolean =>
        seen.refusals.has("turn EMQSTALE") && seen.refusals.has("turn EMQMISSING");
      let names = 0;
      const next = (): string => (names++ % 2 === 0 ? "gone" : "stolen");
      await addUntil(place, "a turn refused both", both, next);
      await worker.close();
      expect(losses).toEqual(new Set(["stolen", "removed"]));
    },
  },
  {
    title: "a queue that gets a limit sends busy workers back to step",
    scripts: ["turn", "step", "limit", "limits"],
    refusals: ["turn EMQRETRY"],
    run: async (place) => {
      const { bench, seen } = place;
      const queue = bench.queue();
      let running = 0;
      let most = 0;
      const worker = bench.worker(
        async () => {
          running += 1;
          most = Math.max(most, running);
          await queue.setGlobalConcurrency(1);
          running -= 1;
        },
        { concurrency: 1 },
      );
      await addUntil(place, "it was sent back", () => seen.refusals.has("turn EMQRETRY"));
      expect(await queue.getGlobalConcurrency()).toBe(1);
      await until("all are done", async () => (await queue.count()) === 0);
      await worker.close();
      expect(most).toBe(1);
    },
  },
  {
    title: "a step refuses runs without their lease and jobs that are gone",
    scripts: ["step"],
    refusals: ["step EMQSTALE", "step EMQMISSING"],
    run: async (place) => {
      const { bench } = place;
      const queue = bench.queue({ defaultJobOptions: FEW });
      const lost: string[] = [];
      const worker = bench.worker(async ({ id, name }) => {
        if (name === "gone") await bench.client.del(bench.key(`job:${id}`));
        if (name === "stolen") await steal(place, id);
      });
      worker.on("lost", (job, error) => lost.push(`${job.name} ${lossOf(error)}`));
      await queue.addBulk(["gone", "stolen", "fine"].map((name) => ({ name, data: 0 })));
      await until("the others are told", () => lost.length === 2);
      await until("one is done", async () => (await queue.getJobCounts()).completed === 1);
      expect(lost).toEqual(["gone removed", "stolen stolen"]);
      await worker.close();
    },
  },
  {
    title: "failing, retrying, delaying and giving back, and what of it is refused",
    scripts: ["finish", "promote"],
    refusals: ["finish EMQSTALE", "finish EMQMISSING"],
    run: async (place) => {
      const { bench } = place;
      const queue = bench.queue({ defaultJobOptions: FEW });
      const lost: string[] = [];
      const runs: string[] = [];
      const worker = bench.worker(
        async ({ id, name, attemptsMade }) => {
          runs.push(name);
          if (name === "stuck") await new Promise(() => undefined);
          if (name === "gone") await bench.client.del(bench.key(`job:${id}`));
          if (name === "stolen") await steal(place, id);
          if (attemptsMade === 0) throw new Error(name);
        },
        { concurrency: 2 },
      );
      worker.on("lost", (job, error) => lost.push(`${job.name} ${lossOf(error)}`));
      const bulk = [
        { name: "failed" },
        { name: "retry", opts: { attempts: 2 } },
        { name: "delay", opts: { attempts: 2, backoff: 20 } },
        { name: "gone" },
        { name: "stolen" },
      ];
      await queue.addBulk(bulk.map((one) => ({ data: 0, ...one })));
      const counts = (): Promise<object> => queue.getJobCounts("failed", "completed", "delayed");
      await until("all ended", async () => {
        return JSON.stringify(await counts()) === '{"failed":1,"completed":2,"delayed":0}';
      });
      await until("both losses are told", () => lost.length === 2);
      expect(lost.sort()).toEqual(["gone removed", "stolen stolen"]);
      const stuck = await queue.add("stuck", 0, { attempts: 1 });
      await until("it runs", () => runs.includes("stuck"));
      await worker.close({ timeout: 0 });
      expect(await stuck.getState()).toBe("waiting");
    },
  },
  {
    title: "a running job's lease is renewed, and a cancel reaches it",
    scripts: ["renew", "cancel", "verdicts"],
    refusals: ["cancel EMQMISSING", "cancel EMQSTATE"],
    run: async ({ bench, seen }) => {
      const queue = bench.queue();
      const reasons: unknown[] = [];
      const worker = bench.worker(
        async (_job, { signal }) => {
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          reasons.push((signal.reason as { code?: string }).code);
          throw signal.reason;
        },
        { lockDuration: 1_000 },
      );
      const job = await queue.add("x", 0);
      await until("it was renewed", () => seen.scripts.has("renew"));
      await worker.cancelJob(job.id, "enough");
      await until("it failed", () => job.isFailed());
      expect(reasons).toEqual(["CANCELLED"]);
      expect(await refusal(queue.cancel(job.id))).toMatchObject({ code: "EMQSTATE" });
      expect(await refusal(queue.cancel("none"))).toMatchObject({ code: "EMQMISSING" });
      await worker.close();
    },
  },
  {
    title: "the sweep brings back what a dead worker held, and removes what is in trash",
    scripts: ["expired", "recover", "bury"],
    run: async ({ bench }) => {
      const queue = bench.queue();
      const job = await queue.add("x", 0);
      await bench.client
        .multi()
        .lrem(bench.key("wait"), 0, job.id)
        .hset(bench.key("owners"), job.id, "1:dead!")
        .zadd(bench.key("active"), -1, job.id)
        .hset(bench.key("job:old"), "name", "old")
        .zadd(bench.key("trash"), 1, "old")
        .exec();
      // Of its own, so that no run has a lease this short.
      const sweeper = bench.worker(() => undefined, { lockDuration: 100, stalledInterval: 100 });
      sweeper.pause();
      const worker = bench.worker(() => "saved");
      await until("it is done", () => job.isCompleted());
      expect(await queue.getJob(job.id)).toMatchObject({ stalledCounter: 1 });
      await until("the trash is out", async () => {
        return (await bench.client.exists(bench.key("trash"), bench.key("job:old"))) === 0;
      });
      await Promise.all([worker.close(), sweeper.close()]);
    },
  },
  {
    title: "what a run writes is refused without its lease, or when its job is gone",
    scripts: ["data", "progress", "log"],
    refusals: ["data", "progress", "log"].flatMap((name) => [
      `${name as "data"} EMQSTALE` as const,
      `${name as "data"} EMQMISSING` as const,
    ]),
    run: async (place) => {
      const { bench } = place;
      const queue = bench.queue();
      const told: unknown[] = [];
      const done = gate();
      const worker = bench.worker(async (job) => {
        const writes = async (): Promise<unknown[]> => {
          const all = [job.updateData({ a: 2 }), job.updateProgress(50), job.log("line")];
          return (await Promise.allSettled(all)).map((one) =>
            one.status === "rejected" ? (one.reason as { code: string }).code : "ok",
          );
        };
        told.push(await writes());
        await steal(place, job.id);
        told.push(await writes());
        await bench.client.del(bench.key(`job:${job.id}`));
        told.push(await writes());
        done.open();
      });
      const job = await queue.add("x", { a: 1 });
      await done.opened;
      const three = (code: string): string[] => [code, code, code];
      expect(told).toEqual([three("ok"), three("EMQSTALE"), three("EMQMISSING")]);
      expect(await refusal(job.updateData(1))).toMatchObject({ code: "EMQMISSING" });
      await worker.close();
    },
  },
];
