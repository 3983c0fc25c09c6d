import { sharedServer } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { Bench, ENGINES, makeDriver, makeStrict } from "../support/bench.js";
import { killLanes } from "../support/connections.js";
import { until } from "../support/until.js";

describe.each(ENGINES)("streams.events.maxLen on %s", (engine) => {
  const open = async (): Promise<Bench> => {
    const { url } = await sharedServer(engine);
    const driver = engine === "redis" ? makeStrict(url) : makeDriver(url, "node-redis");
    return Bench.on(url, await driver);
  };
  const streams = (maxLen: number) => ({ streams: { events: { maxLen } } });
  const kept = (bench: Bench): Promise<string | null> =>
    bench.client.hget(bench.key("meta"), "events.max");

  test("is stored before the first write, and holds for whoever writes", async () => {
    const bench = await open();
    const queue = bench.queue(streams(3));
    expect(await queue.getJobCounts()).toMatchObject({ waiting: 0 });
    expect(await bench.client.exists(bench.key("meta"))).toBe(0);
    await queue.add("x", 1);
    expect(await kept(bench)).toBe("3");
    const plain = bench.queue();
    for (let n = 0; n < 5; n += 1) await plain.add("x", n);
    expect(await bench.client.xlen(bench.key("events"))).toBe(3);
    expect(await kept(bench)).toBe("3");
  });

  test("is stored where the queue stands and was looked at before", async () => {
    const bench = await open();
    await bench.queue().add("x", 1);
    expect(await kept(bench)).toBe(null);
    const queue = bench.queue(streams(0));
    expect(await queue.getJobCounts()).toMatchObject({ waiting: 1 });
    expect(await kept(bench)).toBe(null);
    await queue.pause();
    expect(await kept(bench)).toBe("0");
    const before = await bench.client.xlen(bench.key("events"));
    await queue.add("x", 2);
    expect(await bench.client.xlen(bench.key("events"))).toBe(before);
    await bench.queue(streams(10)).resume();
    expect(await kept(bench)).toBe("10");
  });

  test("without it the queue keeps what it was told", async () => {
    const bench = await open();
    await bench.queue(streams(7)).add("x", 1);
    for (const none of [{}, { streams: {} }, { streams: { events: {} } }]) {
      await bench.queue(none).add("x", 1);
      expect(await kept(bench)).toBe("7");
    }
  });
});

test("it is told again after a reconnect, and to a server that was emptied", async () => {
  const bench = await Bench.own();
  const queue = bench.queue({ streams: { events: { maxLen: 4 } } });
  await queue.add("x", 1);
  await bench.client.hdel(bench.key("meta"), "events.max");
  await queue.add("x", 2);
  expect(await bench.client.hget(bench.key("meta"), "events.max")).toBe(null);
  await killLanes(bench.client, "main");
  await until("it is told", async () => {
    await queue.add("x", 3);
    return (await bench.client.hget(bench.key("meta"), "events.max")) === "4";
  });
  await bench.client.flushall();
  await queue.add("x", 4);
  expect(await bench.client.hget(bench.key("meta"), "events.max")).toBe("4");
});
