import { sharedServer } from "@echomq/testkit";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { describe, expect, test } from "vitest";
import { Dispatcher } from "../../src/index.js";
import { ioredisDriver } from "../../src/ioredis/index.js";
import { nodeRedisDriver } from "../../src/node-redis/index.js";

const DRIVERS = {
  ioredis: (url: string) => ioredisDriver(new Redis(url, { lazyConnect: true })),
  "node-redis": (url: string) => nodeRedisDriver(createClient({ url })),
} as const;

describe.each(Object.entries(DRIVERS))("`await using` with %s", (_name, open) => {
  test("ends a driver with the block", async () => {
    const { url } = await sharedServer("redis");
    let held: Awaited<ReturnType<typeof open>>;
    {
      await using driver = await open(url);
      held = driver;
      expect(await driver.command(["PING"])).toBe("PONG");
    }
    expect(held.state.status).toBe("closed");
    await expect(held.command(["PING"])).rejects.toMatchObject({ fault: "closed" });
    await held[Symbol.asyncDispose]();
  });

  test("ends a dispatcher's lane with the block, and not the driver it was opened from", async () => {
    await using driver = await open((await sharedServer("redis")).url);
    let held: Dispatcher;
    {
      await using dispatcher = await Dispatcher.open(driver, "main");
      held = dispatcher;
      expect(await dispatcher.command(["PING"])).toBe("PONG");
    }
    await expect(held.command(["PING"])).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    expect(await driver.command(["PING"])).toBe("PONG");
  });
});
