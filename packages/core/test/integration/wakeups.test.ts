import { promoteScript, stepScript } from "@echomq/scripts";
import { FlakyPlan, flakyDriver, ofCommand, ofScript, sharedServer } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { Bench, gate, makeDriver } from "../support/bench.js";
import { until } from "../support/until.js";

const LONG = { lockDuration: 3_600_000, stalledInterval: 3_600_000 } as const;

async function flaky(): Promise<{ bench: Bench; plan: FlakyPlan }> {
  const { url } = await sharedServer("redis");
  const plan = new FlakyPlan();
  return { bench: Bench.on(url, flakyDriver(await makeDriver(url), plan)), plan };
}

describe("wake-ups", () => {
  test("one that comes while a claim is in flight is not forgotten", async () => {
    const { bench, plan } = await flaky();
    const queue = bench.queue();
    const [end, reply] = [gate(), gate()];
    const ran: string[] = [];
    const errors: unknown[] = [];
    const worker = bench.worker(
      async (job) => {
        ran.push(job.name);
        if (job.name === "a") await end.opened;
      },
      { concurrency: 2, ...LONG },
    );
    worker.on("error", (error) => errors.push(error));
    await queue.add("a", {});
    const idle = async () => /cmd=bzpopmin/.test(String(await bench.client.client("LIST")));
    await until(
      "it runs, and waits with its other slot",
      async () => ran.length === 1 && (await idle()),
    );
    // The settlement of `a` claims too: the server finds nothing, and its answer is on its way for long.
    const held = plan.on(ofScript(stepScript), { kind: "late", until: reply.opened });
    const blocked = plan.on(
      ofCommand("BZPOPMIN"),
      { kind: "late", until: new Promise(() => undefined) },
      { times: 1_000 },
    );
    end.open();
    await held.spent;
    await queue.add("b", {});
    await until(
      "the marker is taken",
      async () => (await bench.client.exists(bench.key("marker"))) === 0,
    );
    await queue.getJobCounts();
    reply.open();
    await until("b ran", () => ran.length === 2);
    // No later read of the marker could have told of it: none was answered.
    expect(errors).toEqual([]);
    blocked.remove();
  });

  test("a promotion that failed is made up for", async () => {
    const { bench, plan } = await flaky();
    const queue = bench.queue();
    const rule = plan.on(
      ofScript(promoteScript),
      { kind: "answer", text: "ERR not now" },
      { times: 2 },
    );
    const ran: unknown[] = [];
    bench.worker((job) => void ran.push(job.data), LONG);
    await queue.addBulk([1, 2].map((n) => ({ name: "x", data: n, opts: { delay: 30 * n } })));
    await until("both ran", () => ran.length === 2);
    expect(rule.hits).toBe(2);
    expect(ran).toEqual([1, 2]);
  });

  test("delayed jobs of one time keep their order, of different times run by time", async () => {
    const { bench } = await flaky();
    const queue = bench.queue();
    await queue.addBulk(
      [90, 30, 60, 30, 90, 30].map((delay, n) => ({ name: "x", data: n, opts: { delay } })),
    );
    const ran: unknown[] = [];
    const worker = bench.worker((job) => void ran.push(job.data), LONG);
    await until("all ran", () => ran.length === 6);
    expect(ran).toEqual([1, 3, 5, 2, 0, 4]);
    await worker.close();
  });

  test("many idle workers share what comes, each job once", async () => {
    const { bench } = await flaky();
    const queue = bench.queue();
    const ran: unknown[] = [];
    const workers = Array.from({ length: 6 }, () =>
      bench.worker((job) => void ran.push(job.data), LONG),
    );
    await Promise.all(workers.map((worker) => worker.waitUntilReady()));
    for (let n = 0; n < 60; n += 1) {
      await queue.add("x", n);
      if (n % 7 === 0) await until("all so far ran", () => ran.length === n + 1);
    }
    await until("all ran", () => ran.length === 60);
    expect(new Set(ran).size).toBe(60);
  });
});
