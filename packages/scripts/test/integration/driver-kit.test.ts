import { freePort, sharedServer, startServer } from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { DriverFault, type RedisDriver } from "../../src/driver/types.js";
import {
  type DriverFactory,
  KIT_CASES,
  runCase,
  runDriverKit,
} from "../../src/driver-kit/index.js";
import { ioredisMakers } from "../support/makers.js";
import { acmeDriver } from "../support/skeleton.js";

const factory: DriverFactory = {
  open: async () => acmeDriver((await sharedServer("redis")).url),
  unreachable: async () => acmeDriver(`redis://127.0.0.1:${await freePort()}`),
  async outage() {
    const server = await startServer();
    return {
      open: () => acmeDriver(server.url),
      stop: () => server.kill(),
      start: () => server.restart(),
      end: () => server.stop(),
    };
  },
};

describe("the driver of docs/writing-a-driver.md", () => {
  runDriverKit(factory, { test });
});

describe("the kit finds a driver that", () => {
  const [maker] = ioredisMakers;

  async function failing(change: (driver: RedisDriver) => RedisDriver): Promise<string[]> {
    const open = async (): Promise<RedisDriver> => {
      if (maker === undefined) throw new Error("no client");
      return change(await maker.open((await sharedServer("redis")).url));
    };
    const failed: string[] = [];
    for (const kitCase of KIT_CASES.filter(({ id }) => !/^(?:loss|close|open|lane)\./.test(id))) {
      await runCase(kitCase, { open }).catch(() => failed.push(kitCase.id));
    }
    return failed;
  }

  const changed = (driver: RedisDriver, own: Partial<RedisDriver>): RedisDriver =>
    new Proxy(driver, {
      get(target, name) {
        if (name in own) return Reflect.get(own, name);
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });

  test("renames errors", async () => {
    const failed = await failing((driver) =>
      changed(driver, {
        command: (args) =>
          driver.command(args).catch((error: Error) => {
            throw new DriverFault("reply", `Error: ${error.message}`);
          }),
      }),
    );
    expect(failed).toEqual(expect.arrayContaining(["error.script-text", "error.noscript"]));
  });

  test("rejects a pipeline as a whole", async () => {
    const failed = await failing((driver) =>
      changed(driver, {
        async pipeline(commands) {
          const outcomes = await driver.pipeline(commands);
          for (const outcome of outcomes) if (!outcome.ok) throw outcome.error;
          return outcomes;
        },
      }),
    );
    expect(failed).toEqual(["pipeline.independent"]);
  });

  test("turns replies into objects", async () => {
    const failed = await failing((driver) =>
      changed(driver, {
        async command(args) {
          const reply = await driver.command(args);
          return String(args[0]).toUpperCase() === "HGETALL" ? [reply] : reply;
        },
      }),
    );
    expect(failed).toEqual(["reply.resp2"]);
  });
});
