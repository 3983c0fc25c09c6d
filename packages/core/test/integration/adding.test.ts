import { sharedServer } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Handler, JobMap, JobOptions, StandardSchemaV1 } from "../../src/index.js";
import { QueueEvents } from "../../src/index.js";
import { Bench, ENGINES, gate, makeDriver, makeStrict } from "../support/bench.js";
import { refusal, until } from "../support/until.js";

const MODES: readonly (readonly [string, (url: string) => ReturnType<typeof makeDriver>])[] = [
  ["ioredis", (url) => makeDriver(url, "ioredis")],
  ["node-redis", (url) => makeDriver(url, "node-redis")],
  ["strict mode", makeStrict],
];

describe.each(ENGINES)("adding on %s", (engine) => {
  describe.each(MODES)("%s", (_, make) => {
    async function open(): Promise<Bench> {
      const { url } = await sharedServer(engine);
      const made = await make(url);
      onTestFinished(() => made.close());
      return Bench.on(url, made);
    }

    const dedup = (more: object = {}, rest: JobOptions = {}): JobOptions => ({
      ...rest,
      deduplication: { id: "d", ...more },
    });

    /** A worker that notes what it runs and holds each job until its gate opens. */
    function slow(bench: Bench): { readonly ran: string[]; open(): void } {
      const ran: string[] = [];
      const doors: (() => void)[] = [];
      const handler: Handler<JobMap> = async ({ id }) => {
        ran.push(id);
        const door = gate();
        doors.push(door.open);
        await door.opened;
      };
      bench.worker(handler);
      return { ran, open: () => doors.shift()?.() };
    }

    test("many adds of one tick stand in order, also where a deduplication id is held elsewhere", async () => {
      const bench = await open();
      const holder = await bench.queue().add("x", -1, dedup());
      const queue = bench.queue();
      await queue.add("x", -2);
      const adds = Array.from({ length: 40 }, (_, n) => queue.add("x", n, n === 0 ? dedup() : {}));
      expect((await Promise.all(adds))[0]?.id).toBe(holder.id);
      const waiting = await queue.getWaiting();
      expect(waiting.map(({ data }) => data)).toEqual(
        [-1, -2, ...Array(40).keys()].filter((n) => n !== 0),
      );
    });

    test("one job stands for all under its deduplication id, until it ends", async () => {
      const bench = await open();
      const queue = bench.queue();
      const first = await queue.add("x", { n: 1 }, dedup());
      expect(first.deduplicationId).toBe("d");
      const second = await queue.add("x", { n: 2 }, dedup());
      expect(second).toMatchObject({ id: first.id, data: { n: 1 } });
      expect(await queue.getDeduplicationJobId("d")).toBe(first.id);
      const { ran, open: end } = slow(bench);
      await until("it runs", () => ran.length === 1);
      expect((await queue.add("x", {}, dedup())).id).toBe(first.id);
      end();
      await until("it has ended", () => first.isCompleted());
      expect(await queue.getDeduplicationJobId("d")).toBeNull();
      expect((await queue.add("x", {}, dedup())).id).not.toBe(first.id);
    });

    test("a job that fails for good releases it, one that is tried again does not", async () => {
      const bench = await open();
      const queue = bench.queue();
      const seen: (string | null)[] = [];
      bench.worker(async () => {
        seen.push(await queue.getDeduplicationJobId("d"));
        throw new Error("no");
      });
      const job = await queue.add("x", {}, dedup({}, { attempts: 3 }));
      await until("it has failed", () => job.isFailed());
      expect(seen).toEqual([job.id, job.id, job.id]);
      expect(await queue.getDeduplicationJobId("d")).toBeNull();
    });

    test("adds of one tick see each other; two queues find the holder by asking again", async () => {
      const bench = await open();
      const [one, other] = [bench.queue(), bench.queue()];
      const jobs = await Promise.all([1, 2, 3].map((n) => one.add("x", { n }, dedup())));
      expect(new Set(jobs.map(({ id }) => id)).size).toBe(1);
      // The other has never heard of the holder, and of what it knows the holder changes.
      expect((await other.add("x", {}, dedup())).id).toBe(jobs[0]?.id);
      await one.removeDeduplicationKey("d");
      const next = await one.add("x", {}, dedup());
      expect((await other.add("x", {}, dedup())).id).toBe(next.id);
      const bulk = await other.addBulk([
        { name: "x", data: {}, opts: dedup() },
        { name: "x", data: {}, opts: { deduplication: { id: "e" } } },
        { name: "x", data: {} },
      ]);
      expect(bulk[0]?.id).toBe(next.id);
      expect(await one.count()).toBe(4);
    });

    test("debounce: the delayed one is replaced and its keys go", async () => {
      const bench = await open();
      const queue = bench.queue();
      const opts = dedup({ ttl: 60_000, replace: true, extend: true }, { delay: 50_000 });
      const first = await queue.add("x", { n: 1 }, opts);
      await bench.client.pexpire(bench.key("dedup:d"), 1_000);
      const last = await queue.add("x", { n: 2 }, opts);
      expect(last.id).not.toBe(first.id);
      expect(await bench.client.pttl(bench.key("dedup:d"))).toBeGreaterThan(30_000);
      expect((await queue.getDelayed()).map(({ id }) => id)).toEqual([last.id]);
      await until("it is buried", async () => {
        return (await bench.client.exists(bench.key(`job:${first.id}`))) === 0;
      });
      expect(await queue.getDeduplicationJobId("d")).toBe(last.id);
    });

    test("throttle: it stands for its time, though the job has ended", async () => {
      const bench = await open();
      const queue = bench.queue();
      bench.worker(async () => undefined);
      const opts = dedup({ ttl: 60_000 }, { removeOnComplete: true });
      const job = await queue.add("x", {}, opts);
      await until("it has ended", async () => (await job.getState()) === "unknown");
      expect((await queue.add("x", {}, opts)).id).toBe(job.id);
      await bench.client.pexpire(bench.key("dedup:d"), 1);
      await until("its time is over", async () => {
        return (await queue.getDeduplicationJobId("d")) === null;
      });
      expect((await queue.add("x", {}, opts)).id).not.toBe(job.id);
    });

    test("keep the last while active: a chain of three", async () => {
      const bench = await open();
      const queue = bench.queue<{ x: { data: { n: number }; result: unknown } }>();
      const opts = dedup({ keepLastIfActive: true });
      const { ran, open: end } = slow(bench);
      const first = await queue.add("x", { n: 1 }, opts);
      await until("it runs", () => ran.length === 1);
      for (const n of [2, 3]) expect((await queue.add("x", { n }, opts)).id).toBe(first.id);
      const [held] = await bench.client.zrange(bench.key("held"), 0, -1);
      expect(await queue.getJobState(held ?? "")).toBe("held");
      end();
      await until("the next runs", () => ran.length === 2);
      expect((await queue.getJob(ran[1] ?? ""))?.data).toEqual({ n: 3 });
      await queue.add("x", { n: 4 }, opts);
      end();
      await until("the last runs", () => ran.length === 3);
      expect((await queue.getJob(ran[2] ?? ""))?.data).toEqual({ n: 4 });
      end();
      await until("all is over", async () => (await queue.getDeduplicationJobId("d")) === null);
      expect(await queue.getJobCounts()).toMatchObject({ completed: 3, waiting: 0, active: 0 });
    });

    test("freeing an id, for its holder and for anybody", async () => {
      const bench = await open();
      const queue = bench.queue();
      const [first, plain] = [await queue.add("x", {}, dedup()), await queue.add("x", {})];
      expect(await plain.removeDeduplicationKey()).toBe(false);
      expect(await first.removeDeduplicationKey()).toBe(true);
      const second = await queue.add("x", {}, dedup());
      expect(await first.removeDeduplicationKey()).toBe(false);
      expect(await queue.removeDeduplicationKey("d")).toBe(1);
      expect(await queue.removeDeduplicationKey("d")).toBe(0);
      expect(second.id).not.toBe(first.id);
      expect(await refusal(queue.getDeduplicationJobId(""))).toMatchObject({ option: "id" });
    });

    test("a job that is removed frees its id", async () => {
      const queue = (await open()).queue();
      const job = await queue.add("x", {}, dedup());
      await job.remove();
      expect((await queue.add("x", {}, dedup())).id).not.toBe(job.id);
    });

    test("events name the job that stands and the one that does not", async () => {
      const bench = await open();
      const queue = bench.queue();
      const { url } = await sharedServer(engine);
      const events = new QueueEvents(bench.name, { connection: url });
      onTestFinished(() => events.close());
      const told: unknown[] = [];
      events.on("deduplicated", (payload) => told.push(payload));
      events.on("duplicated", (payload) => told.push(payload));
      await events.waitUntilReady();
      await queue.add("x", {}, dedup({}, { jobId: "a" }));
      await queue.add("x", {}, dedup({}, { jobId: "b" }));
      await queue.add("x", { other: 1 }, dedup({}, { jobId: "a" }));
      await until("both are told", () => told.length === 2);
      expect(told).toEqual([
        { jobId: "a", deduplicationId: "d", deduplicatedJobId: "b" },
        { jobId: "a" },
      ]);
    });

    test("run-at: later is delayed, past is now", async () => {
      const queue = (await open()).queue();
      const later = await queue.add("x", {}, { runAt: new Date(Date.now() + 600_000) });
      expect(later.delay).toBeGreaterThan(500_000);
      expect(await later.isDelayed()).toBe(true);
      const now = await queue.add("x", {}, { runAt: 1_000 });
      expect(now.delay).toBe(0);
      expect(await now.isWaiting()).toBe(true);
    });

    test("timeout and ttl stand in the job's options", async () => {
      const queue = (await open()).queue({ defaultJobOptions: { timeout: 5_000 } });
      const job = await queue.add("x", {}, { ttl: 9_000 });
      expect((await queue.getJob(job.id))?.opts).toEqual({ timeout: 5_000, ttl: 9_000 });
    });

    test("a long list keeps its order, and ends at the step that is refused", async () => {
      const queue = (await open()).queue();
      const list = (count: number) =>
        Array.from({ length: count }, (_, n) => ({ name: "x", data: n, opts: { jobId: `j${n}` } }));
      const added = await queue.addBulk([
        ...list(1_100),
        { name: "x", data: 7, opts: { jobId: "j7" } },
      ]);
      expect(added.map(({ id }) => id)).toEqual([
        ...list(1_100).map(({ opts }) => opts.jobId),
        "j7",
      ]);
      expect(added.at(-1)?.data).toBe(7);
      const waiting = (await queue.getJobs(["waiting"], 0, -1, true)).map(({ data }) => data);
      expect(waiting).toEqual(list(1_100).map(({ data }) => data));
      await queue.obliterate();
      await queue.setMaxLength(600);
      expect(await refusal(queue.addBulk(list(2_000)))).toMatchObject({ code: "EMQFULL" });
      const stays = (await queue.getJobs(["waiting"], 0, -1, true)).map(({ data }) => data);
      expect(stays).toEqual(list(500).map(({ data }) => data));
    });

    test("a length limit: each add for itself, each chunk of a bulk whole", async () => {
      const queue = (await open()).queue();
      await queue.setMaxLength(3);
      const adds = await Promise.allSettled([1, 2, 3, 4].map((n) => queue.add("x", { n })));
      expect(adds.map(({ status }) => status)).toEqual([
        ...["fulfilled", "fulfilled", "fulfilled"],
        "rejected",
      ]);
      expect(adds[3]).toMatchObject({ reason: { name: "WireError", code: "EMQFULL" } });
      await queue.setMaxLength(4);
      const two = [1, 2].map((n) => ({ name: "x", data: { n } }));
      expect(await refusal(queue.addBulk(two))).toMatchObject({ code: "EMQFULL" });
      expect(await queue.count()).toBe(3);
      await queue.setMaxLength(null);
      expect(await queue.addBulk(two)).toHaveLength(2);
      for (const most of [0, 1.5, "3", undefined]) {
        const refused = await refusal(() => queue.setMaxLength(most as number));
        expect(refused).toMatchObject({ code: "VALIDATION", option: "most" });
      }
    });

    test("a size limit names the data, and nothing is added", async () => {
      const queue = (await open()).queue({ maxDataSize: 20 });
      expect((await queue.add("x", "x".repeat(18))).data).toBe("x".repeat(18));
      const large = await refusal(queue.add("x", "é".repeat(10)));
      expect(large).toMatchObject({ code: "VALIDATION", option: "data" });
      const bulk = [1, 19].map((n) => ({ name: "x", data: "x".repeat(n) }));
      expect(await refusal(queue.addBulk(bulk))).toMatchObject({ option: "jobs[1].data" });
      expect(await queue.count()).toBe(1);
    });

    test("schemas: what they give is stored, what they refuse is not", async () => {
      const mail: StandardSchemaV1<unknown, { to: string; copies: number }> = {
        "~standard": {
          version: 1,
          vendor: "test",
          validate: (value) => {
            const { to } = value as { to?: unknown };
            if (typeof to === "string") return { value: { to: to.toLowerCase(), copies: 1 } };
            return { issues: [{ message: "must be a string", path: ["to"] }] };
          },
        },
      };
      const later: StandardSchemaV1 = {
        "~standard": {
          version: 1,
          vendor: "test",
          validate: async (value) => mail["~standard"].validate(value),
        },
      };
      const queue = (await open()).queue({ schemas: { mail, later } });
      for (const name of ["mail", "later"]) {
        const { id } = await queue.add(name, { to: "A@B" });
        expect((await queue.getJob(id))?.data).toEqual({ to: "a@b", copies: 1 });
        expect(await refusal(queue.add(name, {}))).toMatchObject({
          name: "SchemaError",
          message: `data: does not fit the schema of "${name}": to: must be a string`,
        });
      }
      const bulk = ["mail", "later", "other"].map((name) => ({ name, data: {} }));
      for (const [at, jobs] of [bulk, bulk.slice(1), [bulk[2], bulk[2], bulk[1]]].entries()) {
        const place = at === 2 ? "jobs[2]" : "jobs[0]";
        expect(await refusal(queue.addBulk(jobs as typeof bulk))).toMatchObject({
          name: "SchemaError",
          option: `${place}.data`,
          message: expect.stringContaining(`${place}.data: does not fit the schema of`),
          issues: [{ message: "must be a string" }],
        });
      }
      expect((await queue.add("other", {})).data).toEqual({});
      expect(await queue.count()).toBe(3);
    });

    test("a serialiser of one's own, for payloads and results", async () => {
      const serializer = {
        serialize: (value: unknown): string =>
          `~${JSON.stringify(value, (_key, one) => (typeof one === "bigint" ? `${one}n` : one))}`,
        deserialize: (text: string): unknown => {
          if (!text.startsWith("~")) throw new Error("no such mark");
          return JSON.parse(text.slice(1), (_key, one) =>
            typeof one === "string" && /^\d+n$/.test(one) ? BigInt(one.slice(0, -1)) : one,
          );
        },
      };
      const bench = await open();
      const queue = bench.queue({ serializer });
      const errors: string[] = [];
      const worker = bench.worker(async ({ data }) => ({ twice: (data as { n: bigint }).n * 2n }), {
        serializer,
      });
      worker.on("failed", (_job, error) => errors.push(String((error as Error).message)));
      const job = await queue.add("x", { n: 2n ** 60n });
      expect(job.data).toEqual({ n: 2n ** 60n });
      await until("it has ended", () => job.isCompleted());
      expect((await queue.getJob(job.id))?.returnvalue).toEqual({ twice: 2n ** 61n });
      expect(await bench.client.hget(bench.key(`job:${job.id}`), "data")).toMatch(/^~/);
      // Written by a queue with another serialiser: it fails with the reason, and hides no other job.
      const alien = await bench.queue().add("x", { n: 1 });
      await until("it has failed", () => alien.isFailed());
      await until("it is told", () => errors.length > 0);
      expect(errors).toEqual(["the serializer cannot read what is stored: no such mark"]);
      expect(await queue.getJobs(["completed", "failed"])).toHaveLength(2);
    });
  });
});
