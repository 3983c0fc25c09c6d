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

describe.each(ENGINES)("strict mode", (engine) => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startServer({ engine });
  });

  afterAll(() => server.stop());

  corePath(engine, async () => {
    const made = await makeStrict(server.url);
    onTestFinished(() => made.close());
    return Bench.on(server.url, made);
  });
});
