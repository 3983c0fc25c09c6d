import { startServer, strictDriver, uniqueQueue } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { createMigration } from "../../src/index.js";
import { ENGINES, makeDriver } from "../support/servers.js";
import { makeV1 } from "../support/v1.js";

describe.each(ENGINES)("strict mode on %s", (engine) => {
  test("every key of the whole path is declared", { timeout: 60_000 }, async () => {
    const server = await startServer({ engine });
    onTestFinished(() => server.stop());
    const queue = uniqueQueue("strict");
    await makeV1({ url: server.url, queue });
    const driver = await strictDriver({ url: server.url, make: (url) => makeDriver(url) });
    onTestFinished(() => driver.close());
    const open = async () => {
      const migration = await createMigration({ source: driver, queue, batch: 20 });
      onTestFinished(() => migration.close());
      return migration;
    };
    const first = await open();
    await first.discover();
    await first.runAll();
    await first.status();
    await first.repair();
    await first.rollback();
    const second = await open();
    expect((await second.runAll({ purgeV1: true })).jobs).toBe(59);
    await second.remove({ yes: true });
  });
});
