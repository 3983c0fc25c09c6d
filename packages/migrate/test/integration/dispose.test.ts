import { sharedServer, uniqueQueue } from "@echomq/testkit";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { createMigration, type Migration } from "../../src/index.js";

test("`await using` of a migration ends its connection with the block", async () => {
  const { url } = await sharedServer("redis");
  let held: Migration;
  {
    const source = new Redis(url, { lazyConnect: true });
    await using migration = await createMigration({ source, queue: uniqueQueue("dispose") });
    held = migration;
    expect(await migration.discover()).toBeDefined();
  }
  await expect(held.discover()).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  await held[Symbol.asyncDispose]();
});
