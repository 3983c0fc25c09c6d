import { sharedServer, startServer, type TestServer } from "@echomq/testkit";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import { Bench, type DriverName, ENGINES, makeDriver, makeStrict } from "../support/bench.js";
import { corePath } from "../support/core-path.js";

const DRIVERS: readonly DriverName[] = ["ioredis", "node-redis"];

for (const engine of ENGINES) {
  for (const driver of DRIVERS) {
    corePath(`${engine}, ${driver}`, async () => {
      const { url } = await sharedServer(engine);
      const made = await makeDriver(url, driver);
      onTestFinished(() => made.close());
      return Bench.on(url, made);
    });
  }
}

describe.each(ENGINES)("strict mode on %s", (engine) => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startServer({ engine });
  });

  afterAll(() => server.stop());

  for (const driver of DRIVERS) {
    corePath(driver, async () => {
      const made = await makeStrict(server.url, driver);
      onTestFinished(() => made.close());
      return Bench.on(server.url, made);
    });
  }
});
