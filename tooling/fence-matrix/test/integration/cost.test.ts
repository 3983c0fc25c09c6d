import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { Queue, Worker } from "@echomq/core";
import type { RedisDriver } from "@echomq/scripts";
import { sharedServer, uniqueQueue } from "@echomq/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DRIVERS, openDriver } from "../support/clients.js";
import { counting, type Sent } from "../support/counting.js";

/** The fence reads with these and no script does. */
const isFence = ({ commands }: Sent): boolean => commands.includes("HGET");

describe.each(DRIVERS)("what the fence costs through %s", (name) => {
  let real: RedisDriver;
  let url: string;

  beforeAll(async () => {
    ({ url } = await sharedServer("redis"));
    real = await openDriver(name, url);
  });

  afterAll(() => real.close());

  test("the boot fence is one write of reads", async () => {
    const sent: Sent[] = [];
    const queue = new Queue(uniqueQueue(), { connection: counting(real, sent) });
    await queue.waitUntilReady();
    await queue.close();
    expect(sent).toHaveLength(1);
    expect(new Set(sent[0]?.commands)).toEqual(new Set(["GET", "HGET", "HMGET", "EXISTS"]));
  });

  test("the boot fence is one turn on the connection", async () => {
    const { port, turns, stop } = await turnCounter(Number(new URL(url).port));
    const driver = await openDriver(name, `redis://127.0.0.1:${port}`);
    const queue = new Queue(uniqueQueue(), { connection: driver });
    const before = turns();
    await queue.waitUntilReady();
    expect(turns() - before).toBe(1);
    await queue.close();
    await driver.close();
    await stop();
  });

  test("the step fence is part of the script: an open queue sends nothing for it", async () => {
    const sent: Sent[] = [];
    const queue = new Queue(uniqueQueue(), { connection: counting(real, sent) });
    await queue.add("first", {});
    sent.length = 0;
    for (let n = 0; n < 20; n += 1) await queue.add("next", { n });
    const adds = sent.filter(({ commands }) => commands.join() === "EVALSHA");
    expect(adds).toHaveLength(20);
    expect(sent.filter(isFence)).toEqual([]);
    await queue.close();
  });

  test("a worker asks the boot fence once for each of its lanes", async () => {
    const sent: Sent[] = [];
    const connection = counting(real, sent);
    const queue = new Queue(uniqueQueue(), { connection });
    const ended = new Promise<void>((resolve) => {
      let left = 20;
      const worker = new Worker(
        queue.name,
        async () => {
          left -= 1;
          if (left === 0) setImmediate(() => void worker.close().then(resolve));
        },
        { connection },
      );
    });
    for (let n = 0; n < 20; n += 1) await queue.add("work", { n });
    await ended;
    const lanes = sent.filter(isFence).map(({ role }) => role);
    expect(lanes.filter((role) => role === "lease")).toHaveLength(1);
    // The queue and the worker share the driver, and each looks for itself.
    expect(lanes.filter((role) => role === "main")).toHaveLength(2);
    expect(lanes.filter((role) => role === "blocking").length).toBeLessThanOrEqual(1);
    await queue.close();
  });
});

/** A relay that counts how often the talk turns from the server back to the client. */
async function turnCounter(
  target: number,
): Promise<{ port: number; turns(): number; stop(): Promise<void> }> {
  let turns = 0;
  const sockets = new Set<Socket>();
  const server: Server = createServer((down) => {
    const up = connect(target, "127.0.0.1");
    let talking: "client" | "server" = "server";
    for (const socket of [up, down]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
    }
    down.on("data", (data) => {
      if (talking === "server") turns += 1;
      talking = "client";
      up.write(data);
    });
    up.on("data", (data) => {
      talking = "server";
      down.write(data);
    });
    down.on("close", () => up.destroy());
    up.on("close", () => down.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    turns: () => turns,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
