import { type Engine, startServer, type TestServer, uniqueQueue } from "@echomq/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DRIVERS } from "../../src/connect/drivers.js";
import { administer, makeV1, migrate, produce, type Stage, work } from "../support/acl-paths.js";
import { adminOf, driverOf, makeUser, refusedTo } from "../support/acl-user.js";

const ENGINES: readonly Engine[] = ["redis", "valkey"];

describe.each(ENGINES)("the printed users on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine });
  });
  afterAll(() => server?.stop());

  /** Lines for the newest version the server knows, and for the oldest there is. */
  const lines = [engine === "redis" ? "7.0" : "7.2", "6.2"];

  describe.each(DRIVERS)("through %s", (name) => {
    function opened(line: string) {
      const { url } = server;
      const admin = adminOf(url);
      const stage: Stage = { q: uniqueQueue("path"), admin, prefixes: ["bull"] };
      const user = (role: string) => {
        const argv = ["--queue", stage.q, "--role", role, "--v1-prefix", "bull"];
        return makeUser(url, ...argv, "--server", line);
      };
      const refused = async (who: string): Promise<readonly string[]> => {
        // Clients go on without it.
        const tolerated = line === "6.2" ? "command client|setinfo" : "";
        return (await refusedTo(admin, who)).filter((what) => what !== tolerated);
      };
      return { url, stage, user, refused };
    }

    test.each(lines)("a line for %s carries queue and worker, nothing refused", async (line) => {
      const { url, stage, user, refused } = opened(line);
      const full = await driverOf({ name: "default", url, rules: [] }, name);
      const producer = await user("producer");
      await produce(stage, await driverOf(producer, name));
      const worker = await user("worker");
      await work(stage, await driverOf(worker, name), full);
      const boss = await user("admin");
      await administer(stage, await driverOf(boss, name), full);
      for (const one of [producer, worker, boss]) expect(await refused(one.name)).toEqual([]);
    });

    test.each(lines)("a line for %s carries a migration, nothing refused", async (line) => {
      const { url, stage, user, refused } = opened(line);
      const migrator = await user("migrator");
      await makeV1(url, stage.q);
      await migrate(stage, await driverOf(migrator, name));
      expect(await refused(migrator.name)).toEqual([]);
    });
  });
});
