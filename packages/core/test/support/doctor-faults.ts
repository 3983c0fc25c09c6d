import type { DoctorReport, Queue } from "../../src/index.js";
import type { Bench } from "./bench.js";

/** Findings as `<kind> <id or last part of the key>`, sorted. */
export function found({ findings }: DoctorReport): string[] {
  return findings.map(({ kind, id, key }) => `${kind} ${id ?? key?.split(":v2:")[1]}`).sort();
}

/** The queue every fault is made in: one waiting, one prioritized and one delayed job. */
export async function fillQueue(queue: Queue): Promise<void> {
  await queue.add("x", {}, { jobId: "a" });
  await queue.add("x", {}, { jobId: "p", priority: 2 });
  await queue.add("x", {}, { jobId: "b", delay: 3_600_000 });
}

/** Jobs of the priority in line, after one more was added. */
async function inOrder(_: Bench, queue: Queue): Promise<string[]> {
  await queue.add("x", {}, { priority: 2, jobId: "next" });
  return (await queue.getPrioritized()).map(({ id }) => id);
}

/** The breakage of one kind, what is found, and what stands afterwards. */
export interface Fault {
  readonly name: string;
  readonly damage: (bench: Bench) => Promise<unknown>;
  readonly found: readonly string[];
  readonly after: (bench: Bench, queue: Queue) => Promise<unknown>;
  readonly wanted: unknown;
  /** It is told and not mended. */
  readonly kept?: true;
}

/** One for every kind of finding at least. */
export const FAULTS: readonly Fault[] = [
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
    name: "an id in line and elsewhere keeps the one that counts",
    damage: async (b) => {
      await b.client.zadd(b.key("failed"), 1, "a");
      await b.client.hset(b.key("job:done"), { name: "x", timestamp: "1", finishedOn: "5" });
      await b.client.zadd(b.key("completed"), 5, "done");
      await b.client.hset(b.key("job:back"), { name: "x", timestamp: "1" });
      await b.client.zadd(b.key("trash"), Date.now(), "back");
      await b.client.lpush(b.key("wait"), "done", "p", "back");
    },
    found: ["two-places a", "two-places back", "two-places done", "two-places p"],
    after: async (b, queue) => [
      await b.client.lrange(b.key("wait"), 0, -1),
      await queue.getJobCounts("prioritized", "completed", "failed"),
      await b.client.exists(b.key("trash")),
    ],
    wanted: [["back", "a"], { prioritized: 1, completed: 1, failed: 0 }, 0],
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
    name: "a job in line whose priority is kept as another, or not at all",
    damage: async (b) => {
      await b.client.hset(b.key("priorities"), "p", 7);
      await b.client.zadd(b.key("prioritized"), 5 * 2 ** 32 + 2 ** 31, "q");
      await b.client.hset(b.key("job:q"), { name: "x", data: "1", timestamp: "1" });
    },
    found: ["wrong-priority p", "wrong-priority q"],
    after: (b) => b.client.hmget(b.key("priorities"), "p", "q"),
    wanted: ["2", "5"],
  },
  {
    name: "a sequence that is behind what it has given",
    damage: (b) => b.client.set(b.key("pc"), "7"),
    found: ["broken-counter pc"],
    after: inOrder,
    wanted: ["p", "next"],
  },
  {
    name: "a sequence that is gone while places beyond its start are taken",
    damage: async (b) => {
      await b.client.zadd(b.key("prioritized"), 2 * 2 ** 32 + 2 ** 31 + 500, "p");
      await b.client.del(b.key("pc"));
    },
    found: ["broken-counter pc"],
    after: inOrder,
    wanted: ["p", "next"],
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
    damage: async (b) => {
      await b.client.hset(b.key("dedup:k"), { job: "none", next: "kept" });
      await b.client.hset(b.key("job:kept"), { name: "x", timestamp: "1", deid: "k" });
      await b.client.zadd(b.key("held"), 1, "kept");
    },
    found: ["owing-dedup k"],
    after: async (b, queue) => [
      await b.client.exists(b.key("dedup:k"), b.key("held")),
      (await queue.getWaiting()).map(({ id }) => id),
    ],
    wanted: [0, ["a", "kept"]],
  },
  {
    name: "jobs that no record keeps back any more",
    damage: async (b) => {
      await b.client.hset(b.key("dedup:k"), { job: "a", next: "other" });
      const due = { timestamp: String(Date.now()), delay: "3600000" };
      await b.client.hset(b.key("job:h1"), { name: "x", timestamp: "1", deid: "k" });
      await b.client.hset(b.key("job:h2"), {
        name: "x",
        timestamp: "1",
        priority: "1",
        deid: "away",
      });
      await b.client.hset(b.key("job:h3"), { name: "x", ...due });
      await b.client.hset(b.key("priorities"), "h2", "1");
      await b.client.zadd(b.key("held"), 1, "h1", 2, "h2", 3, "h3");
    },
    found: ["held-alone h1", "held-alone h2", "held-alone h3"],
    after: async (b, queue) => [
      await b.client.exists(b.key("held")),
      (await queue.getWaiting()).map(({ id }) => id),
      (await queue.getPrioritized()).map(({ id }) => id),
      (await queue.getDelayed()).map(({ id }) => id),
    ],
    wanted: [0, ["a", "h1"], ["h2", "p"], ["b", "h3"]],
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
    after: async (b, queue) => [await inOrder(b, queue), await b.client.exists(b.key("limiter"))],
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
