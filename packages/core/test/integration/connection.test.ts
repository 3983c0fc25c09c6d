import { sharedServer, uniqueQueue } from "@echomq/testkit";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ConnectionOption, Queue, Worker } from "../../src/index.js";
import { Bench, makeDriver } from "../support/bench.js";
import { lanesOpen } from "../support/connections.js";
import { refusal, until } from "../support/until.js";

async function roundTrip(connection: ConnectionOption): Promise<void> {
  const name = uniqueQueue();
  const queue = new Queue(name, { connection });
  const ran: unknown[] = [];
  const worker = new Worker(name, (job) => void ran.push(job.data), { connection });
  await queue.add("x", 1);
  await until("it ran", () => ran.length === 1);
  await worker.close();
  await queue.close();
}

describe("a connection", () => {
  test("by URL and by address", async () => {
    const { url } = await sharedServer("redis");
    await roundTrip(url);
    const { hostname, port } = new URL(url);
    await roundTrip({ host: hostname, port: Number(port), db: 0 });
  });

  test("by an ioredis client, which is only read", async () => {
    const { url } = await sharedServer("redis");
    const client = new Redis(url, { lazyConnect: true });
    onTestFinished(() => client.disconnect());
    const options = { ...client.options };
    await roundTrip(client);
    expect(client.status).toBe("wait");
    expect(client.options).toEqual(options);
    await client.connect();
    await roundTrip(client);
    expect(client.status).toBe("ready");
    expect(await client.ping()).toBe("PONG");
  });

  test("by a node-redis client, which is only read", async () => {
    const { url } = await sharedServer("redis");
    const client = createClient({ url });
    await roundTrip(client);
    expect(client.isOpen).toBe(false);
    await client.connect();
    onTestFinished(() => client.destroy());
    await roundTrip(client);
    expect(await client.ping()).toBe("PONG");
  });

  test("by a driver, which stays the caller's to close", async () => {
    const { url } = await sharedServer("redis");
    const driver = await makeDriver(url);
    await roundTrip(driver);
    expect(await driver.command(["PING"])).toBe("PONG");
    await driver.close();
  });

  test("by a client with a keyPrefix is refused", async () => {
    const { url } = await sharedServer("redis");
    const client = new Redis(url, { lazyConnect: true, keyPrefix: "app:" });
    onTestFinished(() => client.disconnect());
    const queue = new Queue("q", { connection: client });
    expect(await refusal(queue.add("x", {}))).toMatchObject({
      code: "CONFIG",
      option: "keyPrefix",
    });
    await queue.close();
  });

  test("of one client is shared by its queues and closed with the last", async () => {
    const bench = await Bench.own();
    const client = new Redis(bench.url, { lazyConnect: true });
    onTestFinished(() => client.disconnect());
    const queues = ["a", "b", "c"].map((name) => new Queue(name, { connection: client }));
    await Promise.all(queues.map((queue) => queue.add("x", {})));
    expect(await lanesOpen(bench.client)).toBe(1);
    await queues[0]?.close();
    await queues[1]?.close();
    expect(await queues[2]?.getJobCounts()).toMatchObject({ waiting: 1 });
    await queues[2]?.close();
    await until("it is closed", async () => (await lanesOpen(bench.client)) === 0);
    const again = new Queue("a", { connection: client });
    expect(await again.getJobCounts()).toMatchObject({ waiting: 1 });
    await again.close();
  });

  test("in another database keeps apart", async () => {
    const bench = await Bench.own();
    const url = `${bench.url}/3`;
    const [zero, three] = [bench.queue(), new Queue(bench.name, { connection: url })];
    await three.add("x", {});
    expect(await zero.getJobCounts()).toMatchObject({ waiting: 0 });
    await three.close();
  });
});
