import { decode } from "@echomq/ext-id";
import { nodeScript } from "@echomq/scripts";
import { FlakyPlan, flakyDriver, ofScript } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { Bench, gate, makeDriver } from "../support/bench.js";
import { startChild } from "../support/child.js";
import { refusal, settles, until } from "../support/until.js";

describe("many jobs", () => {
  test("two workers of 20 do 5 000 jobs, each exactly once", async () => {
    const bench = await Bench.own();
    const queue = bench.queue({ defaultJobOptions: { removeOnComplete: false } });
    const total = 5_000;
    const jobs = await queue.addBulk(
      Array.from({ length: total }, (_, n) => ({ name: "x", data: n })),
    );
    expect(new Set(jobs.map(({ id }) => id)).size).toBe(total);
    const runs = new Map<string, number>();
    const told = new Set<string>();
    const workers = [1, 2].map(() => {
      const worker = bench.worker(
        async (job) => {
          runs.set(job.id, (runs.get(job.id) ?? 0) + 1);
          await undefined;
          return job.data;
        },
        { concurrency: 20 },
      );
      worker.on("completed", (job, result) => {
        expect(result).toBe(job.data);
        told.add(job.id);
      });
      return worker;
    });
    await until("all are told", () => told.size === total);
    expect(runs.size).toBe(total);
    expect([...runs.values()].every((count) => count === 1)).toBe(true);
    expect(await queue.getJobCounts()).toMatchObject({ completed: total, active: 0, waiting: 0 });
    for (const worker of workers) await worker.close();
    expect(await bench.client.hlen(bench.key("owners"))).toBe(0);
  });
});

describe("ids", () => {
  test("of four processes that add in parallel are unique, in order, of four nodes, given back at the end", async () => {
    const bench = await Bench.own();
    const settings = { url: bench.url, name: bench.name, count: 3_000 };
    const children = [1, 2, 3, 4].map(() => startChild("adder", settings));
    for (const child of children) expect(await settles("an adder", child.ended)).toBe(0);
    const lists = children.map(({ messages }) => messages.join(",").split(","));
    const all = new Set(lists.flat());
    expect(all.size).toBe(12_000);
    expect(await bench.client.llen(bench.key("wait"))).toBe(12_000);
    const nodes = lists.map((ids) => new Set(ids.map((id) => decode(id).node)));
    expect(nodes.map((set) => set.size)).toEqual([1, 1, 1, 1]);
    for (const ids of lists) {
      const numbers = ids.map(BigInt);
      expect(numbers.every((id, at) => at === 0 || id > (numbers[at - 1] ?? id))).toBe(true);
    }
    expect(await bench.client.hlen("{emq}:nodes")).toBe(0);
  });

  test("where all 1 024 node ids are leased an add is refused and writes no job", async () => {
    const bench = await Bench.own();
    const queue = bench.queue();
    const later = Date.now() + 3_600_000;
    const all = Object.fromEntries(
      Array.from({ length: 1_024 }, (_, n) => [n, `${later}:process-${n}`]),
    );
    await bench.client.hset("{emq}:nodes", all);
    expect(await refusal(queue.add("x", {}))).toMatchObject({ code: "EMQFULL", name: "WireError" });
    expect(await queue.getJobCounts()).toMatchObject({ waiting: 0 });
    // An id of the caller's own needs no node.
    await queue.add("x", {}, { jobId: "own" });
    await bench.client.hset("{emq}:nodes", "77", `1:process-77`);
    const job = await queue.add("x", {});
    expect(decode(job.id).node).toBe(77);
    await queue.close();
    expect(await bench.client.hexists("{emq}:nodes", "77")).toBe(0);
  });

  test("a release on its way does not end the lease another queue takes meanwhile", async () => {
    const own = await Bench.own();
    const plan = new FlakyPlan();
    const first = Bench.on(own.url, flakyDriver(await makeDriver(own.url), plan)).queue();
    const second = own.queue();
    const door = gate();
    const before = await first.add("x", {});
    const release = plan.on(ofScript(nodeScript), { kind: "delay", until: door.opened });
    const closing = first.close();
    await release.spent;
    const job = await second.add("x", {});
    door.open();
    await closing;
    const { node } = decode(job.id);
    expect(await own.client.hexists("{emq}:nodes", String(node))).toBe(1);
    expect(await own.client.hlen("{emq}:nodes")).toBe(1);
    expect(job.id).not.toBe(before.id);
    await second.close();
    expect(await own.client.hlen("{emq}:nodes")).toBe(0);
  });

  test("a node id lost to another process is not minted from again", async () => {
    const bench = await Bench.own();
    const [first, second] = [bench.queue(), bench.queue()];
    await first.add("x", {});
    const [[node = ""] = []] = Object.entries(await bench.client.hgetall("{emq}:nodes"));
    await bench.client.hset("{emq}:nodes", node, `${Date.now() + 3_600_000}:another-process`);
    const job = await second.add("x", {});
    expect(decode(job.id).node).not.toBe(Number(node));
  });
});
