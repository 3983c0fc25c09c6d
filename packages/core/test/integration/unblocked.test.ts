import { FlakyPlan, flakyDriver, ofCommand, sharedServer } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { Bench, ENGINES, makeDriver } from "../support/bench.js";
import { until } from "../support/until.js";

/** Ends the wait of every blocked client, as a server does that gives a slot away or changes its role. */
async function unblock(bench: Bench): Promise<number> {
  const list = String(await bench.client.client("LIST"));
  const blocked = list.split("\n").filter((line) => /cmd=(?:bzpopmin|xread)/.test(line));
  let count = 0;
  for (const line of blocked) {
    count += Number(
      await bench.client.call("CLIENT", "UNBLOCK", /id=(\d+)/.exec(line)?.[1] ?? "", "ERROR"),
    );
  }
  return count;
}

describe.each(ENGINES)("waits that the server ends on %s", (engine) => {
  test("a worker and queue events go on, and nobody is told", async () => {
    const bench = await Bench.own(engine);
    const queue = bench.queue();
    const told: string[] = [];
    const worker = bench.worker(() => undefined);
    worker.on("error", (error) => told.push(`worker ${error.code}`));
    const events = bench.events();
    events.on("error", (error) => told.push(`events ${error.code}`));
    const completed: string[] = [];
    events.on("completed", ({ jobId }) => completed.push(jobId));
    await Promise.all([worker.run(), events.run()]);
    for (let round = 1; round <= 3; round += 1) {
      await until("both wait", async () => {
        const info = String(await bench.client.info("clients"));
        return /blocked_clients:2\b/.test(info);
      });
      expect(await unblock(bench)).toBe(2);
      const job = await queue.add("x", round);
      await until("it is told", () => completed.includes(job.id));
    }
    expect(completed).toHaveLength(3);
    expect(told).toEqual([]);
  });

  test("waits that end so again and again are trouble, and are told", async () => {
    const { url } = await sharedServer(engine);
    const plan = new FlakyPlan();
    const bench = Bench.on(url, flakyDriver(await makeDriver(url), plan));
    const text = "UNBLOCKED force unblock from blocking operation, instance state changed";
    plan.on(ofCommand("BZPOPMIN"), { kind: "answer", text }, { times: 8 });
    const told: string[] = [];
    const worker = bench.worker(() => undefined);
    worker.on("error", (error) => told.push(error.code));
    const job = bench.queue().add("x", 1);
    await until("it is done", async () => (await bench.completed()) === 1);
    await job;
    await until("it is told", () => told.length > 0);
    expect(told.every((code) => code === "UNBLOCKED")).toBe(true);
  });
});
