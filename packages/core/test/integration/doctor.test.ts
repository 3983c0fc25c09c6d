import { sharedServer } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { DoctorReport, Queue } from "../../src/index.js";
import { Bench, type DriverName, ENGINES, makeDriver, makeStrict } from "../support/bench.js";
import { until } from "../support/until.js";

const MODES: readonly (readonly [string, (url: string) => ReturnType<typeof makeDriver>])[] = [
  ...(["ioredis", "node-redis"] as const satisfies DriverName[]).map(
    (name) => [name, (url: string) => makeDriver(url, name)] as const,
  ),
  ["strict mode", makeStrict] as const,
];

/** Findings as `<kind> <id or last part of the key>`, sorted. */
function found({ findings }: DoctorReport): string[] {
  return findings.map(({ kind, id, key }) => `${kind} ${id ?? key?.split(":v2:")[1]}`).sort();
}

/** The breakage of one kind, what is found, and what stands afterwards. */
interface Case {
  readonly name: string;
  readonly damage: (bench: Bench) => Promise<unknown>;
  readonly found: readonly string[];
  readonly after: (bench: Bench, queue: Queue) => Promise<unknown>;
  readonly wanted: unknown;
  /** It is told and not mended. */
  readonly kept?: true;
}

const CASES: readonly Case[] = [
  {
    name: "a hash in no state is kept as a failed job",
    damage: (b) => b.client.hset(b.key("job:lost"), { name: "x", data: "1", timestamp: "1" }),
    found: ["orphan-hash lost"],
    after: async (_, queue) => (await queue.getFailed())[0]?.failedReason,
    wanted: "found in no state",
  },
  {
    name: "the hash of a job that had ended is removed",
    damage: (b) => b.client.hset(b.key("job:old"), { name: "x", finishedOn: "5" }),
    found: ["orphan-hash old"],
    after: (b) => b.client.exists(b.key("job:old"), b.key("trash")),
    wanted: 0,
  },
  {
    name: "a hash without a name is removed",
    damage: (b) => b.client.hset(b.key("job:half"), "progress", "5"),
    found: ["half-hash half"],
    after: (b) => b.client.exists(b.key("job:half")),
    wanted: 0,
  },
  {
    name: "an id without a hash leaves every state",
    damage: async (b) => {
      await b.client.lpush(b.key("wait"), "g1");
      await b.client.zadd(b.key("delayed"), 9e15, "g2");
      await b.client.zadd(b.key("completed"), 1, "g3");
    },
    found: ["missing-hash g1", "missing-hash g2", "missing-hash g3"],
    after: (_, queue) => queue.getJobCounts("waiting", "delayed", "completed"),
    wanted: { waiting: 1, delayed: 1, completed: 0 },
  },
  {
    name: "an id in two states keeps the one that counts",
    damage: async (b) => {
      await b.client.lpush(b.key("wait"), "a", "a");
      await b.client.zadd(b.key("failed"), 1, "b");
    },
    found: ["two-places a", "two-places b"],
    after: (b) => b.client.lrange(b.key("wait"), 0, -1),
    wanted: ["a"],
  },
  {
    name: "an owner of nothing, and a run without an owner",
    damage: async (b) => {
      await b.client.hset(b.key("owners"), "a", "1:t");
      await b.client.hset(b.key("job:run"), { name: "x", data: "1", timestamp: "1" });
      await b.client.zadd(b.key("active"), -9e15, "run");
    },
    found: ["active-without-owner run", "owner-without-active a"],
    after: async (b) => [
      await b.client.hlen(b.key("owners")),
      -Number(await b.client.zscore(b.key("active"), "run")) < Date.now() + 3_600_000,
    ],
    wanted: [0, true],
  },
  {
    name: "a priority and a verdict of no job",
    damage: async (b) => {
      await b.client.hset(b.key("priorities"), "none", 4);
      await b.client.hset(b.key("verdicts"), "none", "cancelled");
    },
    found: ["stray-priority none", "stray-verdict none"],
    after: (b) => b.client.hexists(b.key("priorities"), "none"),
    wanted: 0,
  },
  {
    name: "an id of extras without keys, and keys that extras do not name",
    damage: async (b) => {
      await b.client.sadd(b.key("extras"), "none");
      await b.client.rpush(b.key("logs:a"), "line");
      await b.client.rpush(b.key("logs:nobody"), "line");
    },
    found: ["stray-extra none", "unnamed-extra a", "unnamed-extra nobody"],
    after: async (b) => [
      await b.client.smembers(b.key("extras")),
      await b.client.exists(b.key("logs:nobody")),
    ],
    wanted: [["a"], 0],
  },
  {
    name: "a deduplication record whose job is gone",
    damage: async (b) => {
      await b.client.hset(b.key("dedup:k1"), "job", "none");
      await b.client.hset(b.key("dedup:k2"), "job", "a");
      await b.client.hset(b.key("dedup:k3"), "job", "none");
      await b.client.pexpire(b.key("dedup:k3"), 3_600_000);
    },
    found: ["stray-dedup k1"],
    after: (b) => b.client.exists(b.key("dedup:k1"), b.key("dedup:k2"), b.key("dedup:k3")),
    wanted: 2,
  },
  {
    name: "a deduplication record that still owes a place",
    damage: (b) => b.client.hset(b.key("dedup:k"), { job: "none", next: "a" }),
    found: ["owing-dedup k"],
    after: (b) => b.client.exists(b.key("dedup:k")),
    wanted: 1,
    kept: true,
  },
  {
    name: "a removed job nobody has buried",
    damage: async (b) => {
      await b.client.hset(b.key("job:gone"), "name", "x");
      await b.client.zadd(b.key("trash"), 1, "gone");
    },
    found: ["trash gone"],
    after: (b) => b.client.exists(b.key("job:gone"), b.key("trash")),
    wanted: 0,
  },
  {
    name: "counters that are none",
    damage: async (b) => {
      await b.client.set(b.key("pc"), "many");
      await b.client.set(b.key("limiter"), "5");
    },
    found: ["broken-counter limiter", "broken-counter pc"],
    after: async (b, queue) => {
      await queue.add("x", {}, { priority: 2, jobId: "next" });
      return [
        (await queue.getPrioritized()).map(({ id }) => id),
        await b.client.exists(b.key("limiter")),
      ];
    },
    wanted: [["p", "next"], 0],
  },
  {
    name: "jobs wait and no marker stands",
    damage: (b) => b.client.del(b.key("marker")),
    found: ["marker-empty marker"],
    after: (b) => b.client.zcard(b.key("marker")),
    wanted: 1,
  },
  {
    name: "keys of another type and keys nobody knows",
    damage: async (b) => {
      await b.client.set(b.key("schedulers"), "x");
      await b.client.set(b.key("job:odd"), "x");
      await b.client.set(b.key("what"), "x");
    },
    found: ["foreign-key what", "wrong-type job:odd", "wrong-type odd", "wrong-type schedulers"],
    after: (b) => b.client.exists(b.key("schedulers"), b.key("job:odd"), b.key("what")),
    wanted: 3,
    kept: true,
  },
];

describe.each(ENGINES)("the doctor on %s", (engine) => {
  describe.each(MODES)("%s", (mode, make) => {
    /** A queue with one waiting, one prioritized and one delayed job. */
    async function open(): Promise<{ readonly bench: Bench; readonly queue: Queue }> {
      const { url } = await sharedServer(engine);
      const made = await make(url);
      onTestFinished(() => made.close());
      const bench = Bench.on(url, made);
      const queue = bench.queue();
      await queue.add("x", {}, { jobId: "a" });
      await queue.add("x", {}, { jobId: "p", priority: 2 });
      await queue.add("x", {}, { jobId: "b", delay: 3_600_000 });
      return { bench, queue };
    }

    test.each(CASES)("$name", async (one) => {
      const { bench, queue } = await open();
      expect(await queue.doctor()).toMatchObject({ ok: true, findings: [], queue: bench.name });
      await one.damage(bench);
      const seen = await queue.doctor();
      expect(found(seen)).toEqual(one.found);
      expect(seen.ok).toBe(false);
      expect(JSON.parse(JSON.stringify(seen))).toEqual(seen);
      for (const { fixed, detail } of seen.findings) {
        expect(fixed).toBe(false);
        expect(detail).not.toBe("");
      }
      // Looking changes nothing.
      expect(found(await queue.doctor())).toEqual(one.found);
      const fixed = await queue.doctor({ fix: true });
      expect(found(fixed)).toEqual(one.found);
      expect(fixed.ok).toBe(one.kept !== true);
      expect(await one.after(bench, queue)).toEqual(one.wanted);
      const left = found(await queue.doctor());
      const open1 = left.filter((text) => !text.startsWith("active-without-owner"));
      expect(open1).toEqual(one.kept ? one.found : []);
    });

    test("an empty marker is no finding where nothing may be claimed", async () => {
      const { bench, queue } = await open();
      await bench.client.del(bench.key("marker"));
      const allowed = [
        [() => queue.pause(), () => bench.client.hdel(bench.key("meta"), "paused")],
        [
          () => bench.client.hset(bench.key("meta"), "concurrency", "0"),
          () => bench.client.hdel(bench.key("meta"), "concurrency"),
        ],
        [
          () => bench.client.set(bench.key("limiter"), "5", "PX", 3_600_000),
          () => bench.client.del(bench.key("limiter")),
        ],
      ] as const;
      for (const [stop, go] of allowed) {
        await stop();
        expect((await queue.doctor()).findings).toEqual([]);
        await go();
      }
      expect(found(await queue.doctor())).toEqual(["marker-empty marker"]);
    });

    test("findings stop at the limit, and the report says so", async () => {
      const { bench, queue } = await open();
      const names = Array.from({ length: 30 }, (_, n) => `g${n}`);
      await bench.client.lpush(bench.key("wait"), ...names);
      const report = await queue.doctor({ limit: 10 });
      expect(report).toMatchObject({ ok: false, truncated: true });
      expect(report.findings).toHaveLength(10);
      for (let n = 0; n < 5; n += 1) await queue.doctor({ fix: true, limit: 10 });
      expect(await queue.doctor()).toMatchObject({ ok: true, findings: [] });
      expect(await queue.getWaitingCount()).toBe(1);
    });

    // Strict mode takes one call at a time, which is no load.
    if (mode === "strict mode") return;

    test("no false alarm while workers work", async () => {
      const { bench, queue } = await open();
      const workers = [1, 2, 3].map(() =>
        bench.worker(
          ({ data }) => {
            if (Number(data) % 7 === 0) throw new Error("bad");
          },
          { concurrency: 20, removeOnComplete: 50 },
        ),
      );
      let adding = true;
      const added = (async () => {
        for (let n = 0; adding && n < 100; n += 1) {
          await queue.addBulk(
            Array.from({ length: 40 }, (_, at) => ({
              name: "x",
              data: n + at,
              opts: {
                attempts: 2,
                backoff: at % 3 === 0 ? 5 : 0,
                priority: at % 4,
                delay: at % 5 === 0 ? 10 : 0,
              },
            })),
          );
        }
      })();
      for (let look = 0; look < 6; look += 1) {
        const report = await queue.doctor({ fix: look % 2 === 1 });
        expect(report.findings).toEqual([]);
        expect(report.looked).toBeGreaterThan(0);
      }
      adding = false;
      await added;
      await until("all is done", async () => (await queue.count()) <= 1);
      for (const worker of workers) await worker.close();
      expect(await queue.doctor()).toMatchObject({ ok: true, findings: [] });
    });
  });
});
