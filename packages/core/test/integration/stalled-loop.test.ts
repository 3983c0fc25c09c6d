import { sharedServer } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { Bench, ENGINES } from "../support/bench.js";
import { startRemote } from "../support/remote.js";
import { until } from "../support/until.js";

describe.each(ENGINES)("an event loop that stalls for longer than the lease, on %s", (engine) => {
  test.each([
    ["its runs end before it has looked at its leases", true],
    ["its runs go on", false],
  ])("%s: others do the jobs, and nothing of it is written", async (_, atOnce) => {
    const bench = Bench.on((await sharedServer(engine)).url);
    const queue = bench.queue({ defaultJobOptions: { removeOnComplete: false } });
    const remote = await startRemote("busy-worker", {
      url: bench.url,
      name: bench.name,
      options: { concurrency: 3, lockDuration: 400, stalledInterval: 3_600_000 },
    });
    const jobs = await queue.addBulk([1, 2, 3].map((n) => ({ name: `held-${n}`, data: n })));
    const told = (word: string): string[] =>
      remote.messages.filter((one) => one.startsWith(`${word} `)).sort();
    await until("all run", () => told("begun").length === 3);
    const stalling = remote.call("stall", 2_500, atOnce);
    const ran: string[] = [];
    const other = bench.worker(
      ({ name }) => {
        ran.push(name);
        return "there";
      },
      { lockDuration: 1_000, stalledInterval: 100, maxStalledCount: 1 },
    );
    await until("they are done elsewhere", async () => (await bench.completed()) === 3);
    // In their order, though they ended together.
    expect(ran).toEqual(["held-1", "held-2", "held-3"]);
    await stalling;
    if (!atOnce) await remote.call("release");
    await until("it knows", () => told("lost").length === 3);
    expect(told("completed")).toEqual([]);
    for (const { id } of jobs) {
      expect(await queue.getJob(id)).toMatchObject({
        returnvalue: "there",
        attemptsMade: 1,
        attemptsStarted: 2,
        stalledCounter: 1,
      });
    }
    await other.close();
    await queue.add("after", 0);
    await until("it works on", () => told("completed").length === 1);
    expect(await queue.getJobCounts()).toMatchObject({ completed: 4, active: 0, waiting: 0 });
    expect((await queue.doctor()).findings).toEqual([]);
  });
});
