import type { RedisDriver } from "@echomq/scripts";
import { startServer, type TestServer } from "@echomq/testkit";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import { Bench, type DriverName, ENGINES, makeDriver, makeStrict } from "../support/bench.js";
import { corePath } from "../support/core-path.js";
import { PATH } from "../support/path/path.js";
import { runPath } from "../support/path/run.js";

const DRIVERS: readonly DriverName[] = ["ioredis", "node-redis"];

type Make = (url: string, name: DriverName) => Promise<RedisDriver>;

const MODES: readonly (readonly [string, Make])[] = [
  ["plain", makeDriver],
  ["strict mode", makeStrict],
];

describe.each(ENGINES)("%s", (engine) => {
  // Of its own: some cases change what the whole server shares.
  let server: TestServer;

  beforeAll(async () => {
    server = await startServer({ engine });
  });

  afterAll(() => server.stop());

  describe.each(MODES)("%s", (_mode, make) => {
    describe.each(DRIVERS)("%s", (driver) => {
      corePath("behaviour", async () => {
        const made = await make(server.url, driver);
        onTestFinished(() => made.close());
        return Bench.on(server.url, made);
      });

      describe("scripts and refusals", () => {
        runPath(PATH, async () => ({ url: server.url, driver: await make(server.url, driver) }));
      });
    });
  });
});
