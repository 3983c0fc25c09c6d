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

  describe.each(DRIVERS)("through %s", (name) => {
    test.each([engine === "redis" ? "7.0" : "7.2", "6.2"])(
      "a line for %s carries the main path, and nothing was refused on the way",
      async (line) => {
        const { url } = server;
        const admin = adminOf(url);
        const stage: Stage = { q: uniqueQueue("path"), admin, prefixes: ["bull"] };
        const full = await driverOf({ name: "default", url, rules: [] }, name);
        const user = (role: string) => {
          const argv = ["--queue", stage.q, "--role", role, "--v1-prefix", "bull"];
          return makeUser(url, ...argv, "--server", line);
        };
        const producer = await user("producer");
        await produce(stage, await driverOf(producer, name));
        const worker = await user("worker");
        await work(stage, await driverOf(worker, name), full);
        const boss = await user("admin");
        await administer(stage, await driverOf(boss, name), full);
        const migrator = await user("migrator");
        await admin.del(...(await admin.keys(`emq:{${stage.q}}:*`)));
        await makeV1(url, stage.q);
        await migrate(stage, await driverOf(migrator, name));
        for (const one of [producer, worker, boss, migrator]) {
          // Clients go on without it.
          const tolerated = line === "6.2" ? "command client|setinfo" : "";
          const refused = await refusedTo(admin, one.name);
          expect(refused.filter((what) => what !== tolerated)).toEqual([]);
        }
      },
    );
  });
});
