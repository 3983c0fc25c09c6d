import { startServer, uniqueQueue } from "@echomq/testkit";
import { isEchoMQError } from "@echomq/wire";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { describe, expect, onTestFinished, test } from "vitest";
import { type GuardClient, guardV1Queue } from "../../src/v1-guard/index.js";
import { type Bench, benchAt, ENGINES, openBench } from "../support/servers.js";
import { withQueue } from "../support/v1.js";

async function clientsOf(bench: Bench): Promise<readonly GuardClient[]> {
  const node = createClient({ url: bench.url });
  await node.connect();
  onTestFinished(() => node.destroy());
  return [bench.client, node];
}

async function codeOf(client: GuardClient, queue: string, prefix?: string): Promise<string> {
  try {
    await guardV1Queue(client, prefix === undefined ? { queue } : { queue, prefix });
    return "go";
  } catch (error) {
    if (isEchoMQError(error)) return error.code;
    throw error;
  }
}

describe.each(ENGINES)("guardV1Queue on %s", (engine) => {
  test("follows a queue through its migration", async () => {
    const bench = await openBench(engine);
    const queue = uniqueQueue("guard");
    const clients = await clientsOf(bench);
    const codes = (): Promise<string[]> =>
      Promise.all(clients.map((client) => codeOf(client, queue)));
    expect(await codes()).toEqual(["go", "go"]);
    await withQueue({ url: bench.url, queue }, (v1) => v1.add("a", {}));
    expect(await codes()).toEqual(["go", "go"]);
    const migration = await bench.migration({ queue });
    await migration.fence();
    expect(await codes()).toEqual(["MIGRATION_IN_PROGRESS", "MIGRATION_IN_PROGRESS"]);
    await migration.rollback();
    expect(await codes()).toEqual(["go", "go"]);
    await migration.runAll();
    expect(await codes()).toEqual(["MIGRATION_TOMBSTONE", "MIGRATION_TOMBSTONE"]);
    // Another prefix of the same queue finds the stamp.
    for (const client of clients) expect(await codeOf(client, queue, "other")).toBe("V2_KEYSPACE");
    await migration.purge();
    expect(await codes()).toEqual(["MIGRATION_TOMBSTONE", "MIGRATION_TOMBSTONE"]);
  });

  test("tells a foreign text, a future major and a damaged v2 queue", async () => {
    const bench = await openBench(engine);
    const queue = uniqueQueue("odd");
    const [client] = (await clientsOf(bench)) as [GuardClient];
    const stamp = `emq:{${queue}}:meta`;
    await bench.client.set(stamp, "somebody else");
    expect(await codeOf(client, queue)).toBe("FOREIGN_VERSION");
    await bench.client.set(stamp, "echomq:3.0.0");
    expect(await codeOf(client, queue)).toBe("V2_KEYSPACE");
    await bench.client.del(stamp);
    await bench.client.hset(`emq:{${queue}}:v2:meta`, "version", "echomq:2.0.0");
    expect(await codeOf(client, queue)).toBe("V2_KEYSPACE");
  });

  test("writes nothing and needs one round trip", async () => {
    const server = await startServer({ engine });
    onTestFinished(() => server.stop());
    const bench = await benchAt(server.url);
    for (const client of await clientsOf(bench)) {
      const keys = await bench.client.dbsize();
      await guardV1Queue(client, { queue: "quiet" });
      expect(await bench.client.dbsize()).toBe(keys);
    }
  });

  test("a probe the server refuses is an error, never a pass", async () => {
    const server = await startServer({ engine });
    onTestFinished(() => server.stop());
    const admin = new Redis(server.url);
    onTestFinished(() => admin.disconnect());
    await admin.call("ACL", "SETUSER", "v1", "on", ">secret", "+@all", "~bull:*");
    const limited = new Redis(server.url, { username: "v1", password: "secret" });
    onTestFinished(() => limited.disconnect());
    expect(await codeOf(limited, "orders")).toBe("NOPERM");
    expect(
      await codeOf(new Redis(server.url, { lazyConnect: true, keyPrefix: "x:" }), "orders"),
    ).toBe("CONFIG");
    expect(await codeOf({} as GuardClient, "orders")).toBe("CONFIG");
    expect(await codeOf(limited, "")).toBe("VALIDATION");
  });
});
